/* signature.h - argument and result types of a function as one short text.
 *
 * Form     arguments, colon, result: "s,i,i:s". The last argument may end in "*": any number more.
 *          Optional arguments (beyond args_min) are cast like the others.
 * Letters  b BOOLEAN  i INT  l BIGINT  f FLOAT  d DOUBLE  s STRING  y BINARY  D DATE  t TIMESTAMP
 *          n TIMESTAMP_NTZ  u INTERVAL DAY TO SECOND  m INTERVAL YEAR TO MONTH
 *          T timestamp of either kind  N any numeric  I any integer  S STRING or BINARY
 *          E, U a DATE, a TIMESTAMP, of which no other type is cast
 *          A any array  M any map  R any struct  x anything
 * Result   a letter of a type; 1..9: the type of that argument; e: the element of the first
 *          argument; a: array of the first argument's type. After it "?": may be null whatever the
 *          arguments are, "!": never null. Otherwise it may be null if an argument may.
 */
#pragma once
#include "core/expr/coerce.h"

MR_RESOLVE(types);
