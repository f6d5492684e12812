"""Spark as a peer of `millrace bench events`, run in its own environment: warm, with a noop sink.

usage: spark_peer.py FOLDER WORKERS SCHEMA QUERY
Prints, when it is warm: groups events amount. Then, for each line that it reads, runs the query and prints its seconds, from
start() to the end of the last micro-batch.
"""
import os, sys, tempfile, time

from pyspark.sql import SparkSession

WARM_UPS = 2
folder, workers, schema, query = sys.argv[1:]
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what Spark itself prints is no answer
tmp = tempfile.TemporaryDirectory(prefix="mr-bench-spark-")
spark = (SparkSession.builder.master("local[%s]" % workers).config("spark.ui.enabled", "false").config("spark.driver.memory", "4g")
         .config("spark.sql.shuffle.partitions", workers).config("spark.sql.session.timeZone", "UTC").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
runs = 0


def run(sink):
    global runs
    runs += 1
    spark.readStream.schema(schema).json(folder).createOrReplaceTempView("events")
    w = spark.sql(query).writeStream.outputMode("complete").format(sink).queryName("q%d" % runs).trigger(availableNow=True)
    start = time.perf_counter()
    w.option("checkpointLocation", "%s/%d" % (tmp.name, runs)).start().awaitTermination()
    return time.perf_counter() - start


run("memory")
r = spark.sql("SELECT count(*) AS g, sum(n) AS n, sum(a) AS a FROM q%d" % runs).collect()[0]
for _ in range(WARM_UPS): run("noop")
print(r.g, r.n, round(r.a, 2), file=answers, flush=True)
for line in sys.stdin: print(run("noop"), file=answers, flush=True)
spark.stop()
tmp.cleanup()
