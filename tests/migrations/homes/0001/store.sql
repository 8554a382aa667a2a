BEGIN TRANSACTION;
CREATE TABLE builds (
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
INSERT INTO "builds" VALUES('own-28ae036629d942e7a5299de6e841e215',1,'done','own-28ae036629d942e7a5299de6e841e215.1.minilm-l6-v2-int8',1,1,'2026-11-29T11:59:09.794786Z','2026-11-29T11:59:38.538781Z','',0,'');
INSERT INTO "builds" VALUES('own-a2612e43a6c84ce4b62311ad44177fee',2,'done','own-a2612e43a6c84ce4b62311ad44177fee.2.words',2,2,'2026-11-29T11:59:49.213729Z','2026-11-29T12:00:01.246308Z','',0,'');
CREATE TABLE collections (
    name TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    created_at TEXT NOT NULL,
    licence TEXT NOT NULL DEFAULT '',
    tenant TEXT NOT NULL DEFAULT ''
);
INSERT INTO "collections" VALUES('own-a2612e43a6c84ce4b62311ad44177fee','uploads','{home}/documents/52e8189021384119bacf8fb155ddb824/a2612e43a6c84ce4b62311ad44177fee','2026-11-29T11:59:04.309938+00:00','','52e81890-2138-4119-bacf-8fb155ddb824');
INSERT INTO "collections" VALUES('own-28ae036629d942e7a5299de6e841e215','uploads','{home}/documents/52e8189021384119bacf8fb155ddb824/28ae036629d942e7a5299de6e841e215','2026-11-29T11:59:09.794647+00:00','','52e81890-2138-4119-bacf-8fb155ddb824');
CREATE TABLE documents (
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
INSERT INTO "documents" VALUES(251,'own-a2612e43a6c84ce4b62311ad44177fee','b04bf3734205b39e','file:///Harbour%20papers/tide.md','27113ff9785e231eb9e517649c4116920f0ff5b56d3e733a200768ffa13b657e','{"url":"file:///Harbour%20papers/tide.md","title":"tide.md","snapshot":"27113ff9785e231eb9e517649c4116920f0ff5b56d3e733a200768ffa13b657e","collection":"own-a2612e43a6c84ce4b62311ad44177fee","author":"","published":null,"licence":"","kind":"file","doi":"","venue":"","retracted":false,"preprint":false,"fetched":null,"suspicions":[]}','en','2026-11-29T11:59:08.110969+00:00','live',2,'own-a2612e43a6c84ce4b62311ad44177fee.1.words');
INSERT INTO "documents" VALUES(252,'own-28ae036629d942e7a5299de6e841e215','28cdd25c07886698','file:///Minutes%20of%20the%20board/minutes.md','2d0bb421857c47bbe12929ab928114604cb74088b6eb34e02c6bc94e39aecd5b','{"url":"file:///Minutes%20of%20the%20board/minutes.md","title":"minutes.md","snapshot":"2d0bb421857c47bbe12929ab928114604cb74088b6eb34e02c6bc94e39aecd5b","collection":"own-28ae036629d942e7a5299de6e841e215","author":"","published":null,"licence":"","kind":"file","doi":"","venue":"","retracted":false,"preprint":false,"fetched":null,"suspicions":[]}','en','2026-11-29T11:59:12.081472+00:00','live',1,'own-28ae036629d942e7a5299de6e841e215.1.words');
INSERT INTO "documents" VALUES(253,'own-a2612e43a6c84ce4b62311ad44177fee','1543b620d81326a5','file:///Harbour%20papers/lease.md','5f355bb51e4f73647a7c60f0340231cad36e46ce9d575a224be3ae76c17896ee','{"url":"file:///Harbour%20papers/lease.md","title":"lease.md","snapshot":"5f355bb51e4f73647a7c60f0340231cad36e46ce9d575a224be3ae76c17896ee","collection":"own-a2612e43a6c84ce4b62311ad44177fee","author":"","published":null,"licence":"","kind":"file","doi":"","venue":"","retracted":false,"preprint":false,"fetched":null,"suspicions":[]}','en','2026-11-29T11:59:54.643449+00:00','live',2,'own-a2612e43a6c84ce4b62311ad44177fee.2.words');
CREATE TABLE generations (
    name TEXT PRIMARY KEY,
    collection TEXT NOT NULL,
    recipe TEXT NOT NULL,
    average_length REAL NOT NULL,
    average_window REAL NOT NULL DEFAULT 0,
    encoder TEXT NOT NULL DEFAULT '',
    dense INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "generations" VALUES('own-28ae036629d942e7a5299de6e841e215.1.minilm-l6-v2-int8','own-28ae036629d942e7a5299de6e841e215','passages-v3 bm25-en-cjk12-v4',12.0,12.0,'minilm-l6-v2-int8',1);
INSERT INTO "generations" VALUES('own-a2612e43a6c84ce4b62311ad44177fee.2.words','own-a2612e43a6c84ce4b62311ad44177fee','passages-v3 bm25-en-cjk12-v4',14.0,14.0,'minilm-l6-v2-int8',1);
CREATE TABLE snapshots (
    hash TEXT PRIMARY KEY,
    text BLOB NOT NULL
);
INSERT INTO "snapshots" VALUES('27113ff9785e231eb9e517649c4116920f0ff5b56d3e733a200768ffa13b657e',X'78011D8AD109C0200C05FF3BC59BC059FAE102062306DA06924871FB5AFFEE8ECB52F9387267C422C88358DC8B910E8389B38326DA6F3787B1279C726938B4EDF72DC65D8733488B5594D85947B08186CEF401E6BD23A6');
INSERT INTO "snapshots" VALUES('2d0bb421857c47bbe12929ab928114604cb74088b6eb34e02c6bc94e39aecd5b',X'78011D8A410AC0300804EF79852FE84F7AEB076CDC1221445043BF5FE9659919F6D4B513D1DA3540B7B10BD9435932D86FDB4E82AE02215DD4A7455120426D511A4DE47F7ED9316C07AA702D961C1FCFDC20AE');
INSERT INTO "snapshots" VALUES('5f355bb51e4f73647a7c60f0340231cad36e46ce9d575a224be3ae76c17896ee',X'7801658A3B0A80301005FB9CE21D40C22269BC82587A81804F22E82EE483D737A9ED6686D9180B9DDB13710F849DA85DDE9899ACF5403D0A4CB1606D4ACC1282C7F833B5FEF7AB204C2202B66C05118F694DFE03097E222F');
CREATE TABLE unreadable (
    collection TEXT NOT NULL,
    path TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX documents_by_url ON documents (url);
CREATE INDEX documents_by_state ON documents (collection, state);
CREATE INDEX documents_by_snapshot ON documents (snapshot);
CREATE INDEX unreadable_by_collection ON unreadable (collection);
COMMIT;
