"""The API of the curators' desk; requests act with the permissions of the key's owner."""
