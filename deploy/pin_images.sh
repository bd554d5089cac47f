#!/bin/sh
# Pin the three images of docker-compose.yml: read from their registries which digests the tags name now, and write the
# lines into a .env (the argument; without one they are printed). Nothing is written unless every digest could be read.
set -eu

here=$(dirname "$0")
lines=$(
    sed -n 's/.*\${\([A-Z]*_IMAGE\):-\([^}]*\)}.*/\1 \2/p' "$here/../docker-compose.yml" | sort -u |
        while read -r name image; do
            # "Digest:" of the whole image, for all its platforms; buildx ignores most templates of --format
            digest=$(docker buildx imagetools inspect "$image" | sed -n 's/^Digest: *//p' | head -n 1)
            if ! printf '%s' "$digest" | grep -Eqx 'sha256:[0-9a-f]{64}'; then
                echo "The registry of $image named no digest." >&2
                exit 1
            fi
            echo "$name=$image@$digest"
        done
)
if [ $# -eq 0 ]; then
    printf '%s\n' "$lines"
else
    kept=$(grep -Ev '^(PYTHON|DATABASE|REDIS)_IMAGE=' "$1" || true)
    printf '%s\n%s\n' "$kept" "$lines" > "$1"
fi
