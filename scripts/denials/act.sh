#!/bin/bash
# What a script of a shell must not do: the first argument names the act. An act that succeeds prints "did" and ends with 0.
set -e
case $1 in
  read) cat "$2" ;;
  write) echo planted > "$(dirname "$0")/planted.txt" ;;
  fetch)
    # The image of the containers has no curl.
    if command -v curl > /dev/null; then
      curl --silent --show-error --fail --location --path-as-is --max-time 20 --request "$2" "$3"
    else
      python3 -c 'import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[2], method=sys.argv[1]), timeout=20)' "$2" "$3"
    fi
    ;;
  environment) printenv "$2" ;;
  sleep) sleep 600 ;;
  spin) while :; do :; done ;;
  memory) text=$(head -c 1073741824 /dev/zero | tr '\0' x) && : "${#text}" ;;
  output) head -c 8388608 /dev/zero | tr '\0' x ;;
  crowd)
    for _ in {1..20}; do sleep 20 & done
    [ "$(jobs -r | wc -l)" -ge 20 ]
    ;;
  scratch) head -c 67108864 /dev/zero > /tmp/large ;;
  *) exit 64 ;;
esac
echo did
