"""Random typed expressions and rows, by seed: what record.py asks Spark and run.py asks millrace.

A template is a text with holes {TYPE}; a hole takes a column, a literal, or another template of that type, to a depth.
Types: B boolean; I1 I2 I4 I8 integers; N a small INT (lengths, places); F4 F8; D1 D2 D3 decimals; S text; SN ST SJ SU texts that
often are numbers, times, JSON, URLs; Y binary; DT TS TN date, timestamp, timestamp_ntz; AI AS AD arrays; MS MI maps; R a struct;
IY ID intervals of years and months, of days and seconds. templates.txt has those that need no line of their own here.
Classes: I any integer, D any decimal, X any number, T any time, K any scalar that can be compared, A any array, M any map, V anything.
"""
import os, random

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS, TABLES = 10, 12
ZONES = ["UTC", "America/New_York", "Asia/Kolkata", "Europe/Berlin"]

TEXTS = ["''", "'a'", "'abc'", "'ABC abc'", "'  x y  '", "'Ünïcödé'", "'日本語テキスト'", "'a,b,,c'", "'🎉🎈'", "'ß'", "'%_x'", "'null'", "'a1b22c333'",
         "'aaa'", "'The quick brown fox'", "'É'", "'tab\\there'", "'x=1;y=2;z'", "'0'", "'true'", "'İi'"]
NUMBERS = ["'0'", "'1'", "'-7'", "' 42 '", "'1.5'", "'1e3'", "'abc'", "''", "'9223372036854775807'", "'-9223372036854775808'", "'9223372036854775808'", "'+3'",
           "'0.1'", "'-0.0'", "'NaN'", "'Infinity'", "'-inf'", "'1e400'", "'127'", "'128'", "'.5'", "'5.'", "'0x1F'", "'1f'", "'1d'", "'99999999999999999999999999999999999999'", "'true'", "'1_0'", "'-'"]
TIMES = ["'2024-02-29'", "'2024-03-10 02:30:00'", "'1970-01-01'", "'2023-02-29'", "'2024-11-03T01:30:00.123456'", "'1582-10-10'", "'9999-12-31 23:59:59.999999'", "'0001-01-01'",
         "'2024-1-5'", "'2024-03-31 02:30:00 Europe/Berlin'", "'2024-06-15T12:00:00Z'", "'2024-06-15 12:00:00+05:30'", "'epoch'", "'2024'", "'2024-13-01'", "'not a time'", "''",
         "'  2024-05-05  '", "'2024-05-05 7:8:9'", "'1969-12-31 23:59:59.5'"]
JSONS = ["'{\"a\":1,\"b\":\"x\"}'", "'{\"a\":null}'", "'[1,2,3]'", "'{\"a\":{\"b\":[1,{\"c\":\"é\"}]}}'", "'{}'", "'[]'", "'null'", "''", "'{\"a\":1.50,\"b\":true}'", "'bad'", "'{\"a\":'",
         "'[{\"a\":1},{\"a\":2,\"b\":\"z\"}]'", "'\"text\"'", "'{\"b\":\"q\\\\\"q\",\"a\":-5}'", "'12'", "'{\"a\":2147483648}'", "'{\"a\":\"7\",\"b\":5}'"]
URLS = ["'https://user:pw@example.com:8080/p/a?q=1&r=%20x#frag'", "'http://example.com'", "'ftp://h/x'", "'not a url'", "'http://a b/c'", "'a%20b+c'", "'%zz'", "''", "'http://[::1]/x?y'"]
SMALL = ["0", "1", "2", "3", "5", "7", "-1", "-2", "-3", "10", "12", "40"]
VALUES = {
    "B": ["true", "false"],
    "I1": ["0Y", "1Y", "-1Y", "127Y", "CAST(-128 AS TINYINT)", "7Y"],
    "I2": ["0S", "1S", "-1S", "32767S", "CAST(-32768 AS SMALLINT)", "300S", "12S"],
    "I4": ["0", "1", "-1", "2147483647", "CAST('-2147483648' AS INT)", "42", "365", "-100", "1000000", "1999", "13"],
    "I8": ["0L", "1L", "-1L", "9223372036854775807L", "CAST('-9223372036854775808' AS BIGINT)", "86400L", "1700000000L", "-62135596800L", "4294967296L", "7L", "9007199254740993L"],
    "N": SMALL,
    "F4": ["CAST(%s AS FLOAT)" % x for x in ("0", "1.5", "'-0.0'", "'NaN'", "'Infinity'", "'-Infinity'", "3.4028235E38", "1.4E-45", "0.1", "-2.5", "16777217", "1E10", "1234567.9")],
    "F8": ["CAST(%s AS DOUBLE)" % x for x in ("0", "1.5", "'-0.0'", "'NaN'", "'Infinity'", "'-Infinity'", "1.7976931348623157E308", "'4.9E-324'", "0.1", "-2.5", "3.5", "9007199254740993", "1E21", "123456.789",
                                             "-1E-7", "0.3", "2", "100", "1E7", "0.001", "9.999E-4")],
    "D1": ["CAST(%s AS DECIMAL(10,2))" % x for x in ("0", "1.25", "-1.25", "99999999.99", "-99999999.99", "0.01", "100", "2.50", "-0.05")],
    "D2": ["CAST(%s AS DECIMAL(38,0))" % x for x in ("0", "1", "-1", "99999999999999999999999999999999999999BD", "-99999999999999999999999999999999999999BD", "12345678901234567890BD", "9223372036854775808BD")],
    "D3": ["CAST(%s AS DECIMAL(38,18))" % x for x in ("0", "1.5", "-1.5", "0.000000000000000001BD", "99999999999999999999.999999999999999999BD", "123.456", "3.141592653589793238BD")],
    "S": TEXTS, "SN": NUMBERS, "ST": TIMES, "SJ": JSONS, "SU": URLS,
    "Y": ["X''", "X'00'", "X'FF00'", "X'616263'", "X'C3A9'", "X'DEADBEEF'", "CAST('text' AS BINARY)"],
    "DT": ["DATE'%s'" % x for x in ("1970-01-01", "1582-10-15", "1582-10-04", "9999-12-31", "0001-01-01", "2024-02-29", "2023-12-31", "1969-12-31", "2000-01-01", "2024-03-10", "1900-03-01", "2021-01-03")],
    "TS": ["TIMESTAMP'%s'" % x for x in ("1970-01-01 00:00:00Z", "1582-10-15 00:00:00Z", "1582-10-04 12:34:56.789Z", "9999-12-31 23:59:59.999999Z", "0001-01-01 00:00:00Z", "2024-02-29 12:00:00Z",
                                        "2024-03-10 07:00:00Z", "2024-03-10 06:59:59.999999Z", "2024-11-03 05:30:00Z", "2024-11-03 06:30:00Z", "2024-03-31 01:00:00Z", "2024-10-27 00:30:00.5Z", "2024-10-27 01:30:00Z",
                                        "1969-12-31 23:59:59.999999Z", "1883-11-18 17:00:00Z", "2023-12-31 23:59:59Z", "1941-10-01 00:00:00Z")],
    "TN": ["TIMESTAMP_NTZ'%s'" % x for x in ("1970-01-01 00:00:00", "1582-10-10 01:02:03", "9999-12-31 23:59:59.999999", "0001-01-01 00:00:00", "2024-02-29 12:34:56.7", "2024-03-10 02:30:00", "1969-12-31 23:59:59.999999")],
    "AI": ["array(1, 2, 3)", "CAST(array() AS ARRAY<INT>)", "array(CAST(NULL AS INT))", "array(3, 1, NULL, 2, 1)", "array(2147483647, -1)", "array(5)"],
    "AS": ["array('b', 'a', 'c')", "CAST(array() AS ARRAY<STRING>)", "array('x', NULL, '', 'é')", "array('a', 'a')", "array(CAST(NULL AS STRING))"],
    "AD": ["array(1.5D, CAST('NaN' AS DOUBLE), -0.0D)", "array(0.0D, CAST('-0.0' AS DOUBLE), CAST('Infinity' AS DOUBLE))", "array(CAST(NULL AS DOUBLE), 2.5D)", "CAST(array() AS ARRAY<DOUBLE>)",
           "array(CAST('NaN' AS DOUBLE), CAST('NaN' AS DOUBLE), 1D)"],
    "MS": ["map('a', 1, 'b', 2)", "map('x', CAST(NULL AS INT))", "CAST(map() AS MAP<STRING, INT>)", "map('', 0, 'é', -1)"],
    "MI": ["map(1, 'one', 2, 'two')", "map(-1, CAST(NULL AS STRING))", "CAST(map() AS MAP<INT, STRING>)", "map(7, '', 0, 'zero')"],
    "R": ["named_struct('a', 1, 'b', 'x', 'c', 1.5D)", "named_struct('a', CAST(NULL AS INT), 'b', '', 'c', CAST('NaN' AS DOUBLE))", "named_struct('a', -1, 'b', CAST(NULL AS STRING), 'c', CAST('-0.0' AS DOUBLE))"],
    "IY": ["INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '0' MONTH", "INTERVAL '-3' MONTH", "INTERVAL '178956970-7' YEAR TO MONTH", "INTERVAL '100' YEAR", "INTERVAL '-178956970-8' YEAR TO MONTH"],
    "ID": ["INTERVAL '1 02:03:04.5' DAY TO SECOND", "INTERVAL '0' SECOND", "INTERVAL '-1' DAY", "INTERVAL '-0 00:00:00.000001' DAY TO SECOND", "INTERVAL '106751991 04:00:54.775807' DAY TO SECOND",
           "INTERVAL '36' HOUR", "INTERVAL '90' MINUTE"],
}
SQL_TYPE = {"B": "BOOLEAN", "I1": "TINYINT", "I2": "SMALLINT", "I4": "INT", "I8": "BIGINT", "N": "INT", "F4": "FLOAT", "F8": "DOUBLE", "D1": "DECIMAL(10,2)", "D2": "DECIMAL(38,0)", "D3": "DECIMAL(38,18)",
            "S": "STRING", "SN": "STRING", "ST": "STRING", "SJ": "STRING", "SU": "STRING", "Y": "BINARY", "DT": "DATE", "TS": "TIMESTAMP", "TN": "TIMESTAMP_NTZ", "AI": "ARRAY<INT>", "AS": "ARRAY<STRING>",
            "AD": "ARRAY<DOUBLE>", "MS": "MAP<STRING, INT>", "MI": "MAP<INT, STRING>", "R": "STRUCT<a: INT, b: STRING, c: DOUBLE>", "IY": "INTERVAL YEAR TO MONTH", "ID": "INTERVAL DAY TO SECOND"}
CLASSES = {"I": ["I1", "I2", "I4", "I8"], "D": ["D1", "D2", "D3"], "X": ["I1", "I2", "I4", "I8", "F4", "F8", "D1", "D2", "D3"], "T": ["DT", "TS", "TN"], "A": ["AI", "AS", "AD"], "M": ["MS", "MI"],
           "K": ["B", "I4", "I8", "F4", "F8", "D1", "D3", "S", "Y", "DT", "TS", "TN"]}
CLASSES["V"] = CLASSES["K"] + ["I1", "I2", "D2"] + CLASSES["A"] + CLASSES["M"] + ["R"]
COLUMNS = {t: "c" + t.lower() for t in SQL_TYPE}

# Result type: templates. The same hole twice, {X=}: the type (not the value) that the hole before it took.
TEMPLATES = {
    "X": """{X} + {X}|{X} - {X}|{X} * {X}|{X} / {X}|{X} % {X}|{I} div {I}|-{X}|abs({X})|pmod({X}, {X})|mod({X}, {X})|{D} + {D}|{D} * {D}|{D} / {D}|{D} - {D}|{D} % {D}|positive({X})|negative({X})|sign({X})
        ceil({X})|floor({X})|ceil({X}, 1)|floor({D}, -1)|round({X})|round({X}, 1)|round({X}, -1)|bround({X}, 1)|bround({X})|round({D}, 3)|greatest({X}, {X})|least({X}, {X}, {X})|coalesce({X}, {X})
        {I} & {I}|{I} \\| {I}|{I} ^ {I}|~{I}|shiftleft({I4}, {N})|shiftright({I8}, {N})|shiftrightunsigned({I4}, {N})|if({B}, {X}, {X})|nullif({X}, {X})|try_add({X}, {X})|try_subtract({X}, {X})|try_multiply({X}, {X})
        try_divide({X}, {X})|try_mod({X}, {X})|nvl2({V}, {X}, {X})|zeroifnull({X})|nullifzero({X})|CASE WHEN {B} THEN {X} WHEN {B} THEN {X} ELSE {X} END|CASE {I} WHEN {I} THEN {X} ELSE {X} END|date_part('SECONDS', {TS})""",
    "B": """{X} = {X}|{X} < {X}|{X} <= {X}|{X} > {X}|{X} >= {X}|{X} <> {X}|{K} <=> {K=}|{K} = {K=}|{K} < {K=}|{K} >= {K=}|{S} = {X}|{S} < {T}|{T} <= {T}|{T} = {S}|NOT {B}|{B} AND {B}|{B} OR {B}|{V} IS NULL|{V} IS NOT NULL
        isnan({F8})|{X} IN ({X}, {X})|{S} IN ({S}, {S}, NULL)|{X} BETWEEN {X} AND {X}|{T} BETWEEN {T} AND {T}|{S} LIKE '%a%'|{S} LIKE {S}|{S} RLIKE '[a-c]+'|{S} ILIKE '%ABC%'|contains({S}, {S})|startswith({S}, {S})
        endswith({S}, {S})|array_contains({AI}, {I4})|array_contains({AS}, {S})|array_contains({AD}, {F8})|arrays_overlap({AI}, {AI})|exists({AI}, x -> x > {I4})|forall({AI}, x -> x % 2 = 0)|map_contains_key({MS}, {S})
        CAST({S} AS BOOLEAN)|CAST({X} AS BOOLEAN)|{B} IS TRUE|{B} IS NOT FALSE|equal_null({K}, {K=})|regexp_like({S}, '^\\\\\\\\d')|{A} = {A=}|{R} = {R}|{R} < {R}|{AI} < {AI}|try_cast({S} AS BOOLEAN)|{B} = {B}|{B} XOR {B}|between({X}, {X}, {X})""",
    "I1": "CAST({X} AS TINYINT)|CAST({SN} AS TINYINT)|try_cast({X} AS TINYINT)",
    "I2": "CAST({X} AS SMALLINT)|CAST({SN} AS SMALLINT)|try_cast({SN} AS SMALLINT)",
    "I4": """CAST({X} AS INT)|CAST({SN} AS INT)|CAST({B} AS INT)|try_cast({X} AS INT)|length({S})|length({Y})|char_length({S})|octet_length({S})|bit_length({S})|ascii({S})|instr({S}, {S})|locate({S}, {S})|locate({S}, {S}, {N})
        year({T})|month({T})|dayofmonth({T})|day({T})|dayofweek({T})|weekday({T})|dayofyear({T})|weekofyear({T})|quarter({T})|hour({TS})|minute({TS})|second({TS})|hour({TN})|datediff({T}, {T})|extract(YEAROFWEEK FROM {T})
        extract(WEEK FROM {T})|date_part('DOW_ISO', {DT})|unix_date({DT})|size({AI})|size({MS})|array_size({AS})|array_position({AI}, {I4})|element_at({AI}, {N})|try_element_at({AI}, {N})|{AI}[{N}]|{MS}[{S}]|element_at({MS}, {S})
        array_max({AI})|array_min({AI})|aggregate({AI}, 0, (a, x) -> a + x)|reduce({AI}, 1, (a, x) -> a * x, a -> a - 1)|hash({V})|hash({V}, {V})|bit_count({I})|getbit({I4}, {N})|json_array_length({SJ})|levenshtein({S}, {S})
        {R}.a|get({AI}, {N})|regexp_count({S}, 'a')|regexp_instr({S}, '[a-c]')|find_in_set({S}, 'a,b,abc')|cardinality({A})|date_diff({DT}, {DT})|CAST({TS} AS INT)|CAST({DT} AS INT)""",
    "I8": """CAST({X} AS BIGINT)|CAST({SN} AS BIGINT)|CAST({TS} AS BIGINT)|try_cast({SN} AS BIGINT)|unix_timestamp({TS})|unix_timestamp({ST}, 'yyyy-MM-dd')|to_unix_timestamp({TS})|unix_seconds({TS})|unix_millis({TS})|unix_micros({TS})
        xxhash64({V})|xxhash64({V}, {V})|crc32({Y})|ceil({F8})|floor({F8})|width_bucket({F8}, {F8}, {F8}, {N})|timestampdiff(MONTH, {TS}, {TS})|timestampdiff(DAY, {TS}, {TS})|timestampdiff(SECOND, {TS}, {TS})""",
    "N": "length({S})|size({A})|month({T})|pmod({I4}, 5)|instr({S}, {S})",
    "F4": "CAST({X} AS FLOAT)|CAST({SN} AS FLOAT)|try_cast({SN} AS FLOAT)",
    "F8": """CAST({X} AS DOUBLE)|CAST({SN} AS DOUBLE)|CAST({TS} AS DOUBLE)|try_cast({SN} AS DOUBLE)|sqrt({F8})|cbrt({F8})|exp({F8})|ln({F8})|log({F8}, {F8})|log10({F8})|log2({F8})|log1p({F8})|expm1({F8})|pow({F8}, {F8})|sin({F8})|cos({F8})
        tan({F8})|asin({F8})|acos({F8})|atan({F8})|atan2({F8}, {F8})|sinh({F8})|cosh({F8})|tanh({F8})|degrees({F8})|radians({F8})|hypot({F8}, {F8})|rint({F8})|nanvl({F8}, {F8})|signum({F8})|months_between({TS}, {TS})
        months_between({TS}, {TS}, false)|array_max({AD})|element_at({AD}, {N})|aggregate({AD}, 0D, (a, x) -> a + x)|{F8} + {F8}|{F8} * {F8}|{F8} / {F8}|{F8} % {F8}|pmod({F8}, {F8})|{R}.c|cot({F8})|asinh({F8})|acosh({F8})|atanh({F8})|sec({F8})|csc({F8})""",
    "D1": "CAST({X} AS DECIMAL(10,2))|CAST({SN} AS DECIMAL(10,2))|try_cast({X} AS DECIMAL(10,2))|to_number({SN}, 'S999999.99')|CAST({B} AS DECIMAL(10,2))",
    "D2": "CAST({X} AS DECIMAL(38,0))|CAST({SN} AS DECIMAL(38,0))|try_cast({SN} AS DECIMAL(38,0))",
    "D3": "CAST({X} AS DECIMAL(38,18))|CAST({SN} AS DECIMAL(38,18))|CAST({TS} AS DECIMAL(38,18))|extract(SECOND FROM {TS})",
    "S": """CAST({K} AS STRING)|CAST({X} AS STRING)|CAST({T} AS STRING)|CAST({A} AS STRING)|CAST({M} AS STRING)|CAST({R} AS STRING)|concat({S}, {S})|concat({S}, {X})|{S} \\|\\| {K}|concat_ws(',', {S}, {AS}, {S})|lower({S})|upper({S})|trim({S})
        ltrim({S})|rtrim({S})|trim(BOTH 'a' FROM {S})|trim(LEADING {S} FROM {S})|btrim({S}, {S})|substring({S}, {N}, {N})|substring({S}, {N})|substr({S}, {N}, {N})|substring_index({S}, 'a', {N})|left({S}, {N})|right({S}, {N})
        split_part({S}, ',', {N})|split({S}, ',')[{N}]|regexp_extract({S}, '([a-z]+)([0-9]*)', {N})|regexp_replace({S}, '[ab]', 'X')|regexp_replace({S}, '(\\\\\\\\w)(\\\\\\\\w)', '$2$1')|replace({S}, {S}, {S})|replace({S}, 'a')|lpad({S}, {N}, {S})
        rpad({S}, {N}, 'xy')|lpad({S}, {N})|reverse({S})|base64({Y})|hex({Y})|hex({I8})|hex({S})|initcap({S})|repeat({S}, {N})|space({N})|translate({S}, 'abc', 'XY')|format_string('%s-%d', {S}, {I4})|format_string('%5.2f\\|%x', {F8}, {I4})
        chr({I8})|char({N})|md5({Y})|md5({S})|sha1({S})|sha2({S}, 256)|sha2({S}, 512)|soundex({S})|overlay({S} PLACING {S} FROM {N})|conv({SN}, 10, 16)|conv({SN}, 16, 10)|conv({SN}, 36, -10)|decode({Y}, 'UTF-8')|url_encode({SU})|url_decode({SU})
        parse_url({SU}, 'HOST')|parse_url({SU}, 'QUERY', 'q')|parse_url({SU}, 'PATH')|try_parse_url({SU}, 'PROTOCOL')|date_format({TS}, 'yyyy-MM-dd HH:mm:ss.SSS')|date_format({T}, 'EEEE, d MMM yy G')|date_format({TS}, 'hh:mm a VV xxx')
        date_format({TS}, 'D Q q DDD')|from_unixtime({I8})|from_unixtime({I8}, 'yyyy/MM/dd')|dayname({DT})|monthname({DT})|get_json_object({SJ}, '$.a')|get_json_object({SJ}, '$.a.b[1].c')|get_json_object({SJ}, '$[*].a')|get_json_object({SJ}, '$')
        to_json({M})|to_json({A})|to_json({R})|to_json(named_struct('x', {K}, 'y', {V}))|array_join({AS}, ',')|array_join({AS}, '-', 'N')|element_at({AS}, {N})|{AS}[{N}]|{MI}[{I4}]|element_at({MI}, {I4})|{R}.b|typeof({V})|nvl({S}, {S})|coalesce({S}, {S}, 'z')
        if({B}, {S}, {S})|CASE WHEN {B} THEN {S} END|greatest({S}, {S})|least({S}, {S}, {S})|nullif({S}, {S})|regexp_substr({S}, '[0-9]+')|decode({I4}, 0, 'zero', 42, 'answer', 'other')|elt({N}, {S}, {S})|bin({I8})|quote({S})|mask({S})
        to_char({D1}, 'S999,999.99')|format_number({F8}, 2)|format_number({D1}, 1)|format_number({I8}, 0)|left({Y}, {N})|ucase({S})|lcase({S})|CAST({Y} AS STRING)|aggregate({AS}, '', (a, x) -> concat(a, coalesce(x, '?')))|luhn_check({SN})""",
    "SN": "CAST({X} AS STRING)|trim({SN})|concat({SN}, '1')|substring({SN}, 1, 2)",
    "ST": "CAST({T} AS STRING)|substring({ST}, 1, 10)|date_format({TS}, 'yyyy-MM-dd')",
    "SJ": "to_json({R})|to_json({M})|concat('[', {SJ}, ']')|concat('{\"a\":', {SN}, '}')",
    "SU": "url_encode({S})|concat('http://h/?q=', {S})",
    "Y": "CAST({S} AS BINARY)|unhex({SN})|unbase64({S})|encode({S}, 'UTF-8')|encode({S}, 'UTF-16')|concat({Y}, {Y})|substring({Y}, {N}, {N})|reverse({Y})|CAST({I} AS BINARY)|coalesce({Y}, {Y})|to_binary({SN}, 'hex')|unbase64(base64({Y}))|lpad({Y}, {N}, {Y})",
    "DT": """CAST({ST} AS DATE)|CAST({TS} AS DATE)|CAST({TN} AS DATE)|try_cast({ST} AS DATE)|to_date({ST})|to_date({ST}, 'yyyy-MM-dd')|date_add({DT}, {N})|date_add({DT}, {I4})|date_sub({DT}, {I2})|add_months({DT}, {N})|add_months({DT}, {I4})|last_day({DT})
        next_day({DT}, 'MON')|next_day({DT}, {S})|trunc({DT}, 'MONTH')|trunc({DT}, 'WEEK')|trunc({DT}, 'QUARTER')|trunc({DT}, {S})|make_date({I4}, {N}, {N})|date_from_unix_date({I4})|{DT} + {N}|{DT} - {N}|{DT} + INTERVAL '1' MONTH|{DT} + INTERVAL 3 DAYS
        greatest({DT}, {DT})|least({DT}, {DT})|coalesce({DT}, {DT})|if({B}, {DT}, {DT})|try_to_date({ST}, 'yyyy-MM-dd')|dateadd({DT}, {N})|{DT} - INTERVAL '1-2' YEAR TO MONTH""",
    "TS": """CAST({ST} AS TIMESTAMP)|CAST({DT} AS TIMESTAMP)|CAST({TN} AS TIMESTAMP)|try_cast({ST} AS TIMESTAMP)|CAST({I8} AS TIMESTAMP)|CAST({F8} AS TIMESTAMP)|CAST({D3} AS TIMESTAMP)|to_timestamp({ST})|to_timestamp({ST}, 'yyyy-MM-dd HH:mm:ss')
        to_timestamp({ST}, 'yyyy-MM-dd[ HH:mm:ss]')|try_to_timestamp({ST}, 'yyyy-MM-dd')|timestamp_seconds({I8})|timestamp_seconds({F8})|timestamp_millis({I8})|timestamp_micros({I8})|date_trunc('HOUR', {TS})|date_trunc('DAY', {TS})|date_trunc('WEEK', {TS})
        date_trunc('MONTH', {TS})|date_trunc('QUARTER', {TS})|date_trunc('MILLISECOND', {TS})|date_trunc({S}, {TS})|from_utc_timestamp({TS}, 'America/Los_Angeles')|to_utc_timestamp({TS}, 'Asia/Tokyo')|from_utc_timestamp({TS}, {S})
        make_timestamp({I4}, {N}, {N}, {N}, {N}, {D1})|try_make_timestamp({N}, {N}, {N}, {N}, {N}, {N})|{TS} + INTERVAL 1 DAY|{TS} + INTERVAL '1' MONTH|{TS} - INTERVAL 36 HOURS|{TS} + INTERVAL '1 02:03:04.5' DAY TO SECOND|timestampadd(HOUR, {N}, {TS})
        timestampadd(MONTH, {I4}, {TS})|timestampadd(DAY, {N}, {TS})|greatest({TS}, {TS})|least({TS}, {TS})|coalesce({TS}, {TS})|if({B}, {TS}, {TS})|{TS} + make_dt_interval({N}, {N}, {N}, {N})""",
    "TN": "CAST({ST} AS TIMESTAMP_NTZ)|CAST({TS} AS TIMESTAMP_NTZ)|CAST({DT} AS TIMESTAMP_NTZ)|to_timestamp_ntz({ST})|make_timestamp_ntz({I4}, {N}, {N}, {N}, {N}, {D1})|convert_timezone('Europe/Berlin', 'Asia/Tokyo', {TN})|{TN} + INTERVAL 5 MINUTES|{TN} - INTERVAL '1' YEAR|coalesce({TN}, {TN})",
    "AI": """array({I4}, {I4})|array_distinct({AI})|sort_array({AI})|sort_array({AI}, false)|array_sort({AI})|array_union({AI}, {AI})|array_intersect({AI}, {AI})|array_except({AI}, {AI})|array_remove({AI}, {I4})|array_append({AI}, {I4})|array_prepend({AI}, {I4})
        array_insert({AI}, {N}, {I4})|array_compact({AI})|array_repeat({I4}, {N})|slice({AI}, {N}, {N})|reverse({AI})|concat({AI}, {AI})|flatten(array({AI}, {AI}))|sequence({N}, {N})|sequence({N}, {N}, {N})|transform({AI}, x -> x + {I4})|transform({AI}, (x, i) -> x * i)
        filter({AI}, x -> x > {I4})|filter({AI}, x -> x IS NOT NULL)|zip_with({AI}, {AI}, (x, y) -> x + y)|map_values({MS})|map_keys({MI})|from_json({SJ}, 'ARRAY<INT>')|if({B}, {AI}, {AI})|coalesce({AI}, {AI})|array_sort({AI}, (x, y) -> y - x)|CAST({AS} AS ARRAY<INT>)|try_cast({AS} AS ARRAY<INT>)""",
    "AS": """split({S}, ',')|split({S}, '')|split({S}, '[ ,]', {N})|array({S}, {S})|array_distinct({AS})|sort_array({AS})|array_union({AS}, {AS})|array_remove({AS}, {S})|array_append({AS}, {S})|slice({AS}, {N}, {N})|map_keys({MS})|map_values({MI})|transform({AS}, x -> upper(x))
        filter({AS}, x -> length(x) > 0)|CAST({AI} AS ARRAY<STRING>)|CAST({AD} AS ARRAY<STRING>)|regexp_extract_all({S}, '([a-z])', 1)|json_object_keys({SJ})|array_except({AS}, {AS})|reverse({AS})|array_sort({AS})|sentences({S})[0]|str_to_map({S}, ';', '=')['x'] IS NULL|array_compact({AS})""",
    "AD": "array({F8}, {F8})|array_distinct({AD})|sort_array({AD})|sort_array({AD}, false)|array_union({AD}, {AD})|array_except({AD}, {AD})|array_intersect({AD}, {AD})|array_remove({AD}, {F8})|transform({AD}, x -> x * 2)|CAST({AI} AS ARRAY<DOUBLE>)|array_sort({AD})|array_append({AD}, {F8})",
    "MS": "map({S}, {I4})|map_from_arrays({AS}, {AI})|map_concat({MS}, {MS})|map_filter({MS}, (k, v) -> v > 0)|transform_values({MS}, (k, v) -> v + 1)|transform_keys({MS}, (k, v) -> upper(k))|from_json({SJ}, 'MAP<STRING, INT>')|map_from_entries(array(struct({S}, {I4})))|map_zip_with({MS}, {MS}, (k, a, b) -> a + b)",
    "MI": "map({I4}, {S})|str_to_map({S}, ',', '=')|transform_values({MI}, (k, v) -> concat(v, '!'))|map_from_arrays({AI}, {AS})|map_filter({MI}, (k, v) -> k > {I4})",
    "R": "named_struct('a', {I4}, 'b', {S}, 'c', {F8})|from_json({SJ}, 'a INT, b STRING, c DOUBLE')|if({B}, {R}, {R})|coalesce({R}, {R})|element_at(array({R}, {R}), {N})",
    "V": """arrays_zip({AI}, {AS})|map_entries({MS})|array({K}, {K=})|struct({V}, {V})|from_json({SJ}, 'a DECIMAL(10,2), b STRING')|from_json({SJ}, 'a STRING, b BOOLEAN')|from_json({SJ}, 'ARRAY<STRUCT<a: INT, b: STRING>>')|from_json({SJ}, 'a BIGINT', map('mode', 'FAILFAST'))
        from_json({ST}, 'a TIMESTAMP')|array_max(array({K}, {K=}))|array_min(array({K}, {K=}, {K=}))|array_position(array({K}, {K=}), {K=})|array_distinct(array({K}, {K=}, {K=}))|sort_array(array({K}, {K=}, {K=}))|greatest({K}, {K=})|least({K}, {K=}, {K=})|coalesce({K}, {K=})
        {TS} - {TS} > INTERVAL '1' DAY|sequence(cdt, cdt + INTERVAL 3 DAYS)|sequence(cts, cts + INTERVAL 2 HOURS, INTERVAL 30 MINUTES)|array({I}, {D})|array({X}, {X})|map({X}, {X}, {X}, {X})|nullif({K}, {K=})|if({B}, {K}, {K=})|CASE WHEN {B} THEN {K} ELSE {K=} END
        transform({AI}, x -> struct(x, {S}))|get_json_object({SJ}, '$.b')|array_repeat({K}, 2)|concat(array({K}), array({K=}))|array_insert({AS}, {N}, {S})|named_struct('p', {V}, 'q', array({V}))|array_union(array({K}), array({K=}, {K=}))""",
}
TRANSCENDENTAL = "exp ln log log10 log2 log1p expm1 pow sin cos tan asin acos atan atan2 sinh cosh tanh hypot cot asinh acosh atanh sec csc".split()


def parsed():
    out = {}
    for kind, text in TEMPLATES.items():
        text = text.replace("\\|", "\0").replace("\n", "|")
        out[kind] = [t.strip().replace("\0", "|").replace("\\\\\\\\", "\\\\") for t in text.split("|") if t.strip()]
    with open(os.path.join(HERE, "templates.txt")) as f:
        for line in f.read().splitlines():
            if line in SQL_TYPE or line in CLASSES: kind = line
            elif not line.startswith("#"): out.setdefault(kind, []).append(line)
    return out


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.templates = parsed()
        self.roots = [(k, t) for k in sorted(self.templates) for t in self.templates[k]]
        self.deck = []

    def leaf(self, kind):
        if kind in CLASSES: kind = self.random.choice(CLASSES[kind])
        if self.random.random() < 0.8: return COLUMNS[kind]
        return self.random.choice(VALUES[kind])

    def fill(self, template, depth):
        out, last, at = [], None, 0
        while True:
            start = template.find("{", at)
            # JSON texts in templates have braces of their own
            while start >= 0 and not template[start + 1].isupper(): start = template.find("{", start + 1)
            if start < 0: return "".join(out) + template[at:]
            end = template.index("}", start)
            hole = template[start + 1:end]
            kind = last if hole.endswith("=") else hole
            if kind in CLASSES: kind = self.random.choice(CLASSES[kind]) if kind != "X" or self.random.random() < 0.8 else "X"
            last = kind
            out += [template[at:start], self.make(kind, depth)]
            at = end + 1

    def make(self, kind, depth):
        options = self.templates.get(kind)
        if depth == 0 or not options or self.random.random() < 0.45: return self.leaf(kind)
        made = self.fill(self.random.choice(options), depth - 1)
        return "(%s)" % made if " " in made else made

    def expression(self):
        """Every template is a root equally often."""
        if not self.deck:
            self.deck = list(self.roots)
            self.random.shuffle(self.deck)
        kind, template = self.deck.pop()
        return self.fill(template, self.random.choice([0, 1, 1, 2]))

    def row(self):
        """A constant for each of COLUMNS."""
        return ["NULL" if self.random.random() < 0.1 else self.random.choice(VALUES[kind]) for kind in SQL_TYPE]


def constants(row):
    """The row as constants of the columns' types."""
    return ["CAST(%s AS %s)" % (value, sql) for value, sql in zip(row, SQL_TYPE.values())]


def wrapped(sql):
    """The value and its type as one text."""
    return ("to_json(struct(%s AS v, typeof(%s) AS t), map('ignoreNullFields', 'false', 'timestampFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSSXXX', "
            "'timestampNTZFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSSSSS'))" % (sql, sql))


def generate(seed, count):
    """(tables, expressions): tables[k] is a list of rows; an expression is {"ansi", "zone", "table", "sql"}."""
    g = Generator(seed)
    tables = [[g.row() for _ in range(ROWS)] for _ in range(TABLES)]
    expressions = [{"ansi": i % 2 == 0, "zone": g.random.choice(ZONES), "table": g.random.randrange(TABLES), "sql": g.expression()} for i in range(count)]
    return tables, expressions
