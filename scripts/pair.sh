# Scripts that run a command beside a primary and its replica source this file, after beside.sh.
# shellcheck shell=bash

# Such a script defines these functions, which the control program also calls. Server 0 is the primary, 1 the replica.
#   options_of N              prints the options of a server, one a line
#   install_server FOLDER     makes a data folder
#   tell N SQL [OPTION…]      runs statements as root
#   follow sync|async         makes server 1 a replica of server 0, and returns when it receives
#   receives                  whether the replica receives
#   stop_receiving            the replica receives nothing more
#   has_executed_all          whether the replica has executed what it has received
#   take_over                 the replica stops following, and takes writes
#   read_only_option          the option with which a replica starts
#   weak_user NAME            prints statements that make a user who may do all but write to a read-only server
# and may define more_actions ACTION ARGUMENT…, which returns 64 for an action that it does not know.
of_the_script=(options_of tell follow receives stop_receiving has_executed_all take_over read_only_option weak_user more_actions)

# The variables that these functions read.
of_the_programs=()

more_actions() { return 64; }

value() { tell "$1" "$2" --skip-column-names; }
until_so() {
  local deadline=$((SECONDS + 60))
  until "$@"; do
    [ $SECONDS -lt $deadline ] || { echo "$action: not so: $*" >&2; exit 1; }
    sleep 0.05
  done
}
answers() { tell "$1" 'DO 1'; }
has_the_users() { [ "$(value 1 "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'rowlock_test'")" = 1 ]; }
kill_server() {
  local pid
  pid=$(cat "$folder/pid$1") || return 0
  grep -qsaF "$folder" "/proc/$pid/cmdline" || return 0
  kill -KILL "$pid"
  while kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
}
start() {
  local options
  [ -d "$folder/$1" ] || server cp -a "$folder/empty" "$folder/$1"
  mapfile -t options < <(options_of "$1")
  (cd "$folder" && exec setsid "${as_user[@]}" "$bin" "${options[@]}" --datadir="$folder/$1" --tmpdir="$folder" \
    --socket="$folder/socket$1" --pid-file="$folder/pid$1" --log-error="$folder/log$1" --port="${ports[$1]}" \
    --bind-address=127.0.0.1 --skip-name-resolve --max-connections=200 --server-id=$(($1 + 1)) "${@:2}" </dev/null >>"$folder/log$1" 2>&1) &
  until_so answers "$1"
}
act() {
  case $action in
    end) kill_server 0; kill_server 1 ;;
    make)
      kill_server 0
      kill_server 1
      server rm -rf "$folder/0" "$folder/1"
      start 0
      start 1 "$(read_only_option)"
      follow "${2:-sync}"
      local user
      for user in rowlock application; do tell 0 "$(weak_user "$user")"; done
      tell 0 "CREATE DATABASE rowlock_test"
      until_so has_the_users
      ;;
    restart)
      kill_server 1
      start 1 "$(read_only_option)"
      until_so receives
      ;;
    stall) stop_receiving ;;
    kill) kill_server 0 ;;
    promote)
      stop_receiving
      until_so has_executed_all
      take_over
      ;;
    *) more_actions "$@" || { echo "no such action: $*" >&2; exit 64; } ;;
  esac
}

# make_pair NAME VARIABLE USER: makes the folder, the ports and the control program; exports VARIABLE_URL and so on.
# $bin is the server's program.
make_pair() {
  own_folder "$1" "$3"
  end_with_script end_pair
  ports=()
  while [ ${#ports[@]} -lt 2 ]; do
    free_port
    [[ " ${ports[*]} " == *" $port "* ]] || ports+=("$port")
  done
  install_server "$folder/empty" >"$folder/init.log" 2>&1 || { cat "$folder/init.log" >&2; exit 1; }
  {
    echo '#!/usr/bin/env bash'
    echo 'set -euo pipefail'
    declare -p folder bin ports as_user
    [ ${#of_the_programs[@]} = 0 ] || declare -p "${of_the_programs[@]}"
    declare -f server value until_so answers has_the_users kill_server start act "${of_the_script[@]}"
    echo 'exec 2>>"$folder/control.log"; action=${1:-}; act "$@" >/dev/null'
  } >"$folder/control"
  chmod 755 "$folder/control"
  export "$2_URL=mysql://rowlock:rowlock@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/rowlock_test"
  export "$2_PORTS=${ports[*]}"
  export "$2_CONTROL=$folder/control"
}
end_pair() { [ ! -x "$folder/control" ] || "$folder/control" end || true; }
