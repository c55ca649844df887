#!/usr/bin/env bash
# A Kafka Streams application on MioDB that is killed: one broker, three instances that join, window and count generated
# orders exactly once, kill -9 of instances, and at the end their tables against a recount of the input topics.
#
#   bindings/kafka-streams/demo/run.sh [OPTION]...
#
#   --store=miodb|rocksdb  whose stores the instances have (miodb)
#   --kill=N               kill instances N times at random moments, and start them again (0)
#   --orders=N             write so many orders (60000)
#   --rate=N               so many a second (2000)
#   --compare=ROUNDS       instead of all that, let a topology that does little but use its store run with MioDB's and
#                          with RocksDB's stores by turns, so often, and tell throughput and how long restarts take
#   --items=N              with --compare: entries of the store (5000000)
#   --port=N               port of the web page, which shows throughput, restores and state, and kills (any that is free)
#   --stay                 do not end when the tables are compared, for the page
#   --work=FOLDER          folder of broker, states and logs; it stays (without it a temporary one, removed at the end)
#   --offline              Maven fetches nothing
#   --help                 this text
#
# It needs about 1.5 GB of memory, and 5 GB of room with --compare. Exit status: 0 the tables are the same, 1 they are not,
# or something failed.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../../test_sh/lib.sh"

store=miodb kill=0 orders=60000 rate=2000 port=0 stay=0 work='' compare=0 items=5000000
maven=(mvn -q -B)
for argument in "$@"; do
  case $argument in
    --store=miodb | --store=rocksdb) store=${argument#*=} ;;
    --kill=*) kill=${argument#*=} ;;
    --orders=*) orders=${argument#*=} ;;
    --rate=*) rate=${argument#*=} ;;
    --compare=*) compare=${argument#*=} ;;
    --items=*) items=${argument#*=} ;;
    --port=*) port=${argument#*=} ;;
    --stay) stay=1 ;;
    --work=*) work=$(realpath "${argument#*=}") ;;
    --offline) maven+=(-o) ;;
    *) help_or_die "$argument" ;;
  esac
done
for number in "$kill" "$orders" "$rate" "$port" "$compare" "$items"; do
  is_whole_number "$number" || die "$number is no whole number; see --help"
done
((orders > 0 && rate > 0)) || die "--orders and --rate must be at least 1"

exit_on_signals
"$MIODB_ROOT/test_sh/install_deps.sh" --bindings
if [[ ! -f $MIODB_ROOT/build/CMakeCache.txt ]]; then configure build -DCMAKE_BUILD_TYPE=Release; fi
build build "$(nproc)" miodb_leveldb_static >/dev/null
if [[ -z $work ]]; then
  work=$(mktemp -d "$(scratch_parent $((2 << 30)))/miodb_kafka_demo.XXXXXX")
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work"
cd "$MIODB_ROOT/bindings/kafka-streams/demo"
say "building"
attended "${maven[@]}" -f reactor.xml "-Dmiodb.build=$MIODB_ROOT/build" compile >"$work/build.log" 2>&1 ||
  die "the build failed: $(tail -n 20 "$work/build.log")"
java=(java -Ddemo.log=error -Xmx512m -XX:+UseSerialGC -cp "target/classes:$(<target/classpath)")
if ((compare > 0)); then
  attended "${java[@]}" org.miodb.kafka.demo.Compare "work=$work" "rounds=$compare" "items=$items" "baskets=$((items / 10))"
  exit 0
fi
attended "${java[@]}" org.miodb.kafka.demo.Demo "work=$work" "store=$store" "kill=$kill" "orders=$orders" "rate=$rate" \
  "port=$port" "stay=$stay"
