# Needs curl, and SERVICE_TOKEN and SERVICE_UID in the environment.
(
set -eu
service=@SERVICE@
task='"uid": "'"${SERVICE_UID:?}"'"@MODEL@'
# @SECRETS@
input='@VALUES@'

call() {
  printf '%s' "$2" | curl --silent --show-error --fail-with-body "$service$1" \
    --header 'Content-Type: application/json' \
    --header "Authorization: Bearer ${SERVICE_TOKEN:?}" \
    --data-binary @-
}
# The first text of this name in a JSON reply.
text() {
  sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p' | head -n 1
}

reply=$(call /v2/generate "{$task$input}")
id=$(printf '%s\n' "$reply" | text id)
task="$task, \"id\": \"${id:?no task id in: $reply}\""
printf 'task %s\n' "$id" >&2

while :; do
  reply=$(call /v2/status "{$task}")
  case $(printf '%s\n' "$reply" | text status) in
    completed) break ;;
    failed) printf '%s\n' "$reply" >&2; exit 1 ;;
  esac
  sleep 2
done

call /v2/response "{$task}"
)
