/**
 * The tables of the log in Postgres, as steps of `migrations.ts`. A log is a tenant: several share one database. Events and native messages are chunks: what one
 * stream got in one commit is one row. `xid` and `ordinal` are the order of commits over all streams: a transaction is seen whole or not at all, and one
 * that is still running may have a smaller number than one that is done, so who reads that order stops before the oldest that runs.
 */
import type { MigrationRoom } from "./migrations.ts";
import { SEALED_TABLES } from "./sealing.ts";

/** The log of who names none. */
export const DEFAULT_TENANT = "default";

const PARTITIONS = 16;
const partitionsOf = (table: string): string =>
  Array.from(
    { length: PARTITIONS },
    (_, index) =>
      `CREATE TABLE dragoman.${table}_${index} PARTITION OF dragoman.${table} FOR VALUES WITH (MODULUS ${PARTITIONS}, REMAINDER ${index});`,
  ).join("\n  ");

/** Not every server is built with lz4; the compression that all have is slower. */
const lz4 = (table: string, columns: readonly string[]): string => `
  DO $do$ BEGIN
    ${columns.map((column) => `ALTER TABLE dragoman.${table} ALTER COLUMN ${column} SET COMPRESSION lz4;`).join(" ")}
  EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN NULL;
  END $do$;`;

/**
 * `streams` is narrow and changes with every commit: no index holds what changes then (`updated_minute` does once a minute), so that the update stays in
 * its page. What changes seldom is in `stream_states`.
 */
const tables = `
  CREATE TABLE dragoman.logs (
    tenant text PRIMARY KEY,
    log_id text NOT NULL,
    owner text,                   -- the epoch of the one daemon that may write, NULL where nodes share the log
    holder text,                  -- whose that epoch is, to begin again without waiting
    seen_at timestamptz           -- when the owner was last alive
  );
  CREATE TABLE dragoman.epochs (
    tenant text NOT NULL, ordinal bigint NOT NULL, epoch text NOT NULL,
    first_xid xid8 NOT NULL,      -- all it wrote is behind this transaction, and this chunk of it
    first_ordinal bigint NOT NULL DEFAULT 0,
    opened_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, ordinal), UNIQUE (tenant, epoch)
  );

  CREATE SEQUENCE dragoman.stream_numbers;
  CREATE TABLE dragoman.streams (
    no bigint PRIMARY KEY,
    tenant text NOT NULL,
    kind text NOT NULL,
    id text COLLATE "C",          -- NULL once deleted: the name is free again while rows are still being removed
    created_at bigint NOT NULL,
    epoch bigint NOT NULL,        -- of the one writer
    last_sequence bigint NOT NULL,
    last_native bigint NOT NULL,
    open_since bigint,
    updated_at bigint NOT NULL,
    updated_minute bigint NOT NULL,
    deleted boolean NOT NULL DEFAULT false,
    owner text,                   -- the node that may take the writer, NULL where anybody may
    UNIQUE (tenant, kind, id)
  ) WITH (fillfactor = 50);
  CREATE INDEX streams_created ON dragoman.streams (tenant, kind, created_at, no) WHERE NOT deleted;
  CREATE INDEX streams_updated ON dragoman.streams (tenant, kind, updated_minute) WHERE NOT deleted;
  CREATE INDEX streams_open ON dragoman.streams (tenant, kind) WHERE open_since IS NOT NULL AND NOT deleted;
  CREATE INDEX streams_deleted ON dragoman.streams (tenant) WHERE deleted;
  CREATE INDEX streams_owner ON dragoman.streams (owner) WHERE owner IS NOT NULL;

  CREATE TABLE dragoman.stream_states (
    no bigint PRIMARY KEY, tenant text NOT NULL, kind text NOT NULL,
    state text NOT NULL,
    agent text, directory text, status text,   -- fields of the state, NULL when it has none
    archived boolean NOT NULL, pinned boolean NOT NULL, tags text[] NOT NULL
  ) WITH (fillfactor = 80);
  CREATE INDEX stream_states_agent ON dragoman.stream_states (tenant, kind, agent, no);
  CREATE INDEX stream_states_directory ON dragoman.stream_states (tenant, kind, directory, no);
  CREATE INDEX stream_states_status ON dragoman.stream_states (tenant, kind, status, no);
  CREATE INDEX stream_states_tags ON dragoman.stream_states USING gin (tags) WHERE tags <> '{}';

  CREATE TABLE dragoman.event_chunks (
    stream bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL,
    xid xid8 NOT NULL, ordinal bigint NOT NULL,
    types text NOT NULL,          -- per event, behind their checksum
    natives text NOT NULL,        -- per event
    body bytea NOT NULL,          -- the events, packed
    checksum bigint NOT NULL,     -- of the whole row
    PRIMARY KEY (stream, last)
  ) PARTITION BY HASH (stream);
  CREATE INDEX event_chunks_global ON dragoman.event_chunks (xid, ordinal);
  ${lz4("event_chunks", ["types", "natives", "body"])}
  ${partitionsOf("event_chunks")}

  CREATE TABLE dragoman.native_chunks (
    stream bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL,
    head text NOT NULL, body bytea NOT NULL, checksum bigint NOT NULL,
    PRIMARY KEY (stream, last)
  ) PARTITION BY HASH (stream);
  ${lz4("native_chunks", ["head", "body"])}
  ${partitionsOf("native_chunks")}

  CREATE TABLE dragoman.coverage (
    stream bigint PRIMARY KEY,
    upto bigint NOT NULL,         -- native messages behind this are counted from their chunks
    counts text NOT NULL          -- JSON: [type, disposition, count]
  );

  CREATE TABLE dragoman.documents (
    tenant text NOT NULL, kind text NOT NULL, id text COLLATE "C" NOT NULL,
    stream bigint,                -- put by the writer of this stream, and loaded with it
    body text NOT NULL, expires_at bigint,
    PRIMARY KEY (tenant, kind, id)
  );
  CREATE INDEX documents_id ON dragoman.documents (tenant, id);
  CREATE INDEX documents_stream ON dragoman.documents (stream) WHERE stream IS NOT NULL;
  CREATE INDEX documents_expiry ON dragoman.documents (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE dragoman.artifacts (
    tenant text NOT NULL, artifact_id text COLLATE "C" NOT NULL,
    kind text NOT NULL, mime text NOT NULL, name text, bytes bigint NOT NULL, created_at bigint NOT NULL,
    PRIMARY KEY (tenant, artifact_id)
  );
  CREATE INDEX artifacts_newest ON dragoman.artifacts (tenant, created_at, artifact_id);
  CREATE TABLE dragoman.artifact_parts (
    tenant text NOT NULL, artifact_id text COLLATE "C" NOT NULL, part integer NOT NULL, body bytea NOT NULL,
    PRIMARY KEY (tenant, artifact_id, part)
  );
  ALTER TABLE dragoman.artifact_parts ALTER COLUMN body SET STORAGE EXTERNAL;
  CREATE TABLE dragoman.artifact_streams (
    tenant text NOT NULL, artifact_id text COLLATE "C" NOT NULL, stream bigint NOT NULL,
    PRIMARY KEY (tenant, artifact_id, stream)
  );
  CREATE INDEX artifact_streams_stream ON dragoman.artifact_streams (stream);

  CREATE TABLE dragoman.search_state (tenant text PRIMARY KEY, cursor text);
  CREATE TABLE dragoman.search_streams (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL, kind text NOT NULL, id text NOT NULL,
    agent text NOT NULL, directory text NOT NULL, title text, folded text NOT NULL,
    UNIQUE (tenant, kind, id)
  );
  CREATE TABLE dragoman.search_entries (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stream bigint NOT NULL, sequence bigint NOT NULL, item_id text, sort text NOT NULL,
    at bigint NOT NULL, text text NOT NULL, words tsvector NOT NULL
  );
  CREATE INDEX search_entries_stream ON dragoman.search_entries (stream, item_id);
  CREATE INDEX search_entries_words ON dragoman.search_entries USING gin (words);
`;

/**
 * One commit is one call: fence, events, native messages and what goes with them, or nothing. `bytes` holds all texts and bodies; the arrays say where each
 * lies. A stream is written only by the writer with its epoch, and only behind the sequence that this writer knows as the last.
 */
const commitFunction = (name: string, mayCreate: string, numbered = { parameters: "", fence: "" }): string => `
  CREATE FUNCTION dragoman.${name}(
    p_tenant text, p_owner text,${numbered.parameters} p_bytes bytea,
    s_no bigint[], s_epoch bigint[], s_expected bigint[], s_last bigint[], s_native bigint[], s_open bigint[], s_at bigint[],
    e_stream bigint[], e_first bigint[], e_last bigint[], e_from bigint[], e_types bigint[], e_natives bigint[], e_body bigint[], e_checksum bigint[],
    n_stream bigint[], n_first bigint[], n_last bigint[], n_from bigint[], n_head bigint[], n_body bigint[], n_checksum bigint[],
    p_more jsonb
  ) RETURNS text LANGUAGE plpgsql AS $body$
  DECLARE
    touched bigint;
    own xid8 := pg_current_xact_id();
  BEGIN
    IF p_owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM dragoman.logs l WHERE l.tenant = p_tenant AND l.owner = p_owner) THEN
      RAISE EXCEPTION 'another dragoman has taken over this log' USING ERRCODE = 'DR003';
    END IF;${numbered.fence}
    IF p_more ? 'created' THEN${mayCreate}
      INSERT INTO dragoman.streams (no, tenant, kind, id, created_at, epoch, last_sequence, last_native, updated_at, updated_minute, owner)
      SELECT c.no, p_tenant, c.kind, c.id, c.at, c.epoch, 0, 0, c.at, c.at / 60000, c.owner
      FROM jsonb_to_recordset(p_more -> 'created') AS c(no bigint, kind text, id text, at bigint, epoch bigint, owner text);
    END IF;
    IF cardinality(s_no) > 0 THEN
      UPDATE dragoman.streams s
      SET last_sequence = u.last, last_native = u.native, open_since = u.open, updated_at = u.at, updated_minute = u.at / 60000
      FROM unnest(s_no, s_epoch, s_expected, s_last, s_native, s_open, s_at) AS u(no, epoch, expected, last, native, open, at)
      WHERE s.no = u.no AND s.epoch = u.epoch AND s.last_sequence = u.expected AND NOT s.deleted;
      GET DIAGNOSTICS touched = ROW_COUNT;
      IF touched <> cardinality(s_no) THEN
        RAISE EXCEPTION '% of % streams are not this writer''s any more', cardinality(s_no) - touched, cardinality(s_no) USING ERRCODE = 'DR001';
      END IF;
    END IF;
    IF cardinality(e_stream) > 0 THEN
      INSERT INTO dragoman.event_chunks (stream, first, last, xid, ordinal, types, natives, body, checksum)
      SELECT u.stream, u.first, u.last, own, u.ordinal,
        convert_from(substring(p_bytes FROM (u.at + 1)::int FOR u.types::int), 'UTF8'),
        convert_from(substring(p_bytes FROM (u.at + u.types + 1)::int FOR u.natives::int), 'UTF8'),
        substring(p_bytes FROM (u.at + u.types + u.natives + 1)::int FOR u.body::int),
        u.checksum
      FROM unnest(e_stream, e_first, e_last, e_from, e_types, e_natives, e_body, e_checksum)
        WITH ORDINALITY AS u(stream, first, last, at, types, natives, body, checksum, ordinal);
    END IF;
    IF cardinality(n_stream) > 0 THEN
      INSERT INTO dragoman.native_chunks (stream, first, last, head, body, checksum)
      SELECT u.stream, u.first, u.last,
        convert_from(substring(p_bytes FROM (u.at + 1)::int FOR u.head::int), 'UTF8'),
        substring(p_bytes FROM (u.at + u.head + 1)::int FOR u.body::int),
        u.checksum
      FROM unnest(n_stream, n_first, n_last, n_from, n_head, n_body, n_checksum) AS u(stream, first, last, at, head, body, checksum);
    END IF;
    IF p_more IS NULL THEN
      RETURN own::text;
    END IF;
    IF p_more ? 'states' THEN
      INSERT INTO dragoman.stream_states AS t (no, tenant, kind, state, agent, directory, status, archived, pinned, tags)
      SELECT u.no, p_tenant, u.kind, convert_from(substring(p_bytes FROM u.at + 1 FOR u.size), 'UTF8'),
        u.agent, u.directory, u.status, u.archived, u.pinned, u.tags
      FROM jsonb_to_recordset(p_more -> 'states')
        AS u(no bigint, kind text, at int, size int, agent text, directory text, status text, archived boolean, pinned boolean, tags text[])
      ON CONFLICT (no) DO UPDATE SET state = excluded.state, agent = excluded.agent, directory = excluded.directory,
        status = excluded.status, archived = excluded.archived, pinned = excluded.pinned, tags = excluded.tags;
    END IF;
    IF p_more ? 'removed' THEN
      DELETE FROM dragoman.documents d USING jsonb_to_recordset(p_more -> 'removed') AS u(kind text, id text)
      WHERE d.tenant = p_tenant AND d.kind = u.kind AND d.id = u.id;
    END IF;
    IF p_more ? 'documents' THEN
      INSERT INTO dragoman.documents AS t (tenant, kind, id, stream, body, expires_at)
      SELECT p_tenant, u.kind, u.id, u.stream, convert_from(substring(p_bytes FROM u.at + 1 FOR u.size), 'UTF8'), u.expires
      FROM jsonb_to_recordset(p_more -> 'documents') AS u(kind text, id text, stream bigint, at int, size int, expires bigint)
      ON CONFLICT (tenant, kind, id) DO UPDATE SET body = excluded.body, expires_at = excluded.expires_at,
        stream = coalesce(excluded.stream, t.stream);
    END IF;
    IF p_more ? 'artifacts' THEN
      INSERT INTO dragoman.artifacts (tenant, artifact_id, kind, mime, name, bytes, created_at)
      SELECT p_tenant, u.id, u.kind, u.mime, u.name, u.bytes, u.at
      FROM jsonb_to_recordset(p_more -> 'artifacts') AS u(id text, kind text, mime text, name text, bytes bigint, at bigint)
      -- Locks the row: who releases it at the same time waits, and then sees the new link.
      ON CONFLICT (tenant, artifact_id) DO UPDATE SET bytes = excluded.bytes;
    END IF;
    IF p_more ? 'parts' THEN
      INSERT INTO dragoman.artifact_parts (tenant, artifact_id, part, body)
      SELECT p_tenant, u.id, u.part, substring(p_bytes FROM u.at + 1 FOR u.size)
      FROM jsonb_to_recordset(p_more -> 'parts') AS u(id text, part int, at int, size int)
      -- What is there may be damaged: here are the right bytes.
      ON CONFLICT (tenant, artifact_id, part) DO UPDATE SET body = excluded.body;
    END IF;
    IF p_more ? 'links' THEN
      INSERT INTO dragoman.artifact_streams (tenant, artifact_id, stream)
      SELECT p_tenant, u.id, u.stream FROM jsonb_to_recordset(p_more -> 'links') AS u(id text, stream bigint)
      ON CONFLICT DO NOTHING;
    END IF;
    RETURN own::text;
  END $body$;
`;

/**
 * A node may have lost a session before its stream was there, when there was nothing yet to fence: who keeps owners replaces this function, and says whether the one that creates a stream is
 * its owner still.
 */
const mayCreate = `
  CREATE FUNCTION dragoman.may_create(p_owner text, p_kind text, p_id text) RETURNS boolean LANGUAGE plpgsql AS $body$ BEGIN RETURN true; END $body$;`;
const creationFence = `
      IF EXISTS (SELECT 1 FROM jsonb_to_recordset(p_more -> 'created') AS c(kind text, id text, owner text) WHERE NOT dragoman.may_create(c.owner, c.kind, c.id)) THEN
        RAISE EXCEPTION 'another owns a stream that is new' USING ERRCODE = 'DR004';
      END IF;`;

/** See `commit-numbers.ts`. The row is locked first: of two statements with one number, the other waits and is then refused. */
const committers = `
  CREATE TABLE dragoman.committers (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tenant text NOT NULL,
    commits bigint NOT NULL,      -- the number of the last commit of one open log
    xid xid8,                     -- its transaction
    done_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 50);`;
const numbered = {
  parameters: " p_committer bigint, p_number bigint,",
  fence: `
    UPDATE dragoman.committers c SET commits = p_number, xid = own, done_at = now() WHERE c.no = p_committer AND c.commits = p_number - 1;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'commit % is not the next one', p_number USING ERRCODE = 'DR005';
    END IF;`,
};

export const logTables: MigrationRoom = {
  room: "log",
  steps: [
    tables + commitFunction("commit_1", ""),
    mayCreate + commitFunction("commit_2", creationFence),
    committers + commitFunction("commit_3", creationFence, numbered),
    SEALED_TABLES + lz4("sealed_chunks", ["types", "natives", "body"]),
  ],
};
