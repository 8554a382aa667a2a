-- The document store of one home. Snapshots are immutable; everything else says where they stand.
CREATE TABLE IF NOT EXISTS snapshots (
    hash TEXT PRIMARY KEY,
    text BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    snapshot TEXT NOT NULL,
    source TEXT NOT NULL,
    language TEXT NOT NULL,
    fetched_at TEXT NOT NULL,
    state TEXT NOT NULL,
    seen INTEGER NOT NULL,
    written TEXT NOT NULL DEFAULT '',
    UNIQUE (collection, key)
);
CREATE INDEX IF NOT EXISTS documents_by_url ON documents (url);
CREATE INDEX IF NOT EXISTS documents_by_state ON documents (collection, state);
CREATE INDEX IF NOT EXISTS documents_by_snapshot ON documents (snapshot);
-- The orders to machines in each document, as `finder` found them; under an empty document: all of the collection are there.
CREATE TABLE IF NOT EXISTS screened (
    collection TEXT NOT NULL,
    document TEXT NOT NULL,
    finder TEXT NOT NULL,
    orders TEXT NOT NULL,
    PRIMARY KEY (collection, document)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS forget_orders AFTER DELETE ON documents BEGIN
    DELETE FROM screened WHERE collection = OLD.collection AND document = OLD.key;
END;
-- What readers knew of the structure of each document's text, packed JSON; documents without structure have no row.
CREATE TABLE IF NOT EXISTS blocks (
    collection TEXT NOT NULL,
    document TEXT NOT NULL,
    blocks BLOB NOT NULL,
    PRIMARY KEY (collection, document)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS forget_blocks AFTER DELETE ON documents BEGIN
    DELETE FROM blocks WHERE collection = OLD.collection AND document = OLD.key;
END;
CREATE TRIGGER IF NOT EXISTS screen_again AFTER INSERT ON documents BEGIN
    DELETE FROM screened WHERE collection = NEW.collection AND document = '';
END;
CREATE TABLE IF NOT EXISTS unreadable (
    collection TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS unreadable_by_collection ON unreadable (collection);
CREATE TABLE IF NOT EXISTS collections (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    created_at TEXT NOT NULL,
    licence TEXT NOT NULL DEFAULT '',
    tenant TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS generations (
    name TEXT PRIMARY KEY,
    collection TEXT NOT NULL,
    recipe TEXT NOT NULL,
    average_length REAL NOT NULL,
    average_window REAL NOT NULL DEFAULT 0,
    encoder TEXT NOT NULL DEFAULT '',
    dense INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS builds (
    collection TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    phase TEXT NOT NULL,
    generation TEXT NOT NULL DEFAULT '',
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    started_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '',
    skipped INTEGER NOT NULL DEFAULT 0,
    corpus_state TEXT NOT NULL DEFAULT ''
);
