/** The tables of a fleet beside those of the log, as steps of a room: which nodes there are, who owns which session, and tokens. */
import type { MigrationRoom } from "../log/postgres/migrations.ts";
import { DEFAULT_TENANT } from "../log/postgres/schema.ts";
import { TOKEN_TABLES } from "./postgres-tokens.ts";

/** Fleets share a database as logs do: each is a tenant, and its nodes, owners and tokens are named within it. */
const BY_TENANT = `
  UPDATE dragoman.nodes SET tenant = '${DEFAULT_TENANT}';
  UPDATE dragoman.owners SET tenant = '${DEFAULT_TENANT}';
  UPDATE dragoman.tokens SET tenant = '${DEFAULT_TENANT}';
  ALTER TABLE dragoman.nodes ALTER COLUMN tenant DROP DEFAULT, DROP CONSTRAINT nodes_pkey, ADD PRIMARY KEY (tenant, node_id);
  ALTER TABLE dragoman.owners ALTER COLUMN tenant DROP DEFAULT, DROP CONSTRAINT owners_pkey, ADD PRIMARY KEY (tenant, session_id);
  ALTER TABLE dragoman.tokens ALTER COLUMN tenant DROP DEFAULT, DROP CONSTRAINT tokens_pkey, ADD PRIMARY KEY (tenant, id);
  DROP INDEX dragoman.owners_node;
  CREATE INDEX owners_node ON dragoman.owners (tenant, node_id, incarnation);
  DROP FUNCTION dragoman.is_living(text, bigint);
  DROP FUNCTION dragoman.takes(text, text, text, text);
  CREATE FUNCTION dragoman.is_living(p_tenant text, id text, life bigint) RETURNS boolean LANGUAGE sql STABLE AS
    'SELECT EXISTS (SELECT 1 FROM dragoman.nodes n WHERE n.tenant = p_tenant AND n.node_id = id AND n.incarnation = life AND n.state <> ''fenced'')';
  CREATE FUNCTION dragoman.takes(p_tenant text, id text, home text, place text, agent text) RETURNS boolean LANGUAGE sql STABLE AS
    'SELECT EXISTS (SELECT 1 FROM dragoman.nodes n WHERE n.tenant = p_tenant AND n.node_id = id AND n.kind = ''node'' AND n.state = ''up''
       AND n.lease_until >= clock_timestamp() AND (home = id OR (place IS NOT NULL AND n.places ? place)) AND n.agents ? agent)';
  -- The writer's name is one of a process, so its row says of which tenant it is.
  CREATE OR REPLACE FUNCTION dragoman.may_create(p_owner text, p_kind text, p_id text) RETURNS boolean LANGUAGE plpgsql AS $body$ BEGIN
    IF p_owner IS NULL OR p_kind <> 'session' THEN RETURN true; END IF;
    PERFORM 1 FROM dragoman.owners o JOIN dragoman.nodes n ON n.tenant = o.tenant AND n.node_id = o.node_id AND n.incarnation = o.incarnation
    WHERE o.session_id = p_id AND n.writer = p_owner FOR SHARE OF o;
    RETURN FOUND;
  END $body$`;

/** Nodes that do not name their tenant yet run on while others are replaced: they are the first fleet's, and go on with the sessions they have. */
const WITHOUT_TENANT = `
  CREATE FUNCTION dragoman.is_living(id text, life bigint) RETURNS boolean LANGUAGE sql STABLE AS
    'SELECT dragoman.is_living(''${DEFAULT_TENANT}'', id, life)';
  CREATE FUNCTION dragoman.takes(id text, home text, place text, agent text) RETURNS boolean LANGUAGE sql STABLE AS
    'SELECT dragoman.takes(''${DEFAULT_TENANT}'', id, home, place, agent)'`;

export const FLEET_TABLES: MigrationRoom = {
  room: "cluster",
  steps: [
    `CREATE TABLE dragoman.nodes (
       node_id text PRIMARY KEY, tenant text NOT NULL DEFAULT '', incarnation bigint NOT NULL, kind text NOT NULL, writer text NOT NULL, url text NOT NULL, version text NOT NULL,
       labels jsonb NOT NULL, places jsonb NOT NULL, agents jsonb NOT NULL, capacity integer NOT NULL, load integer NOT NULL,
       lease_until timestamptz NOT NULL, lease_since timestamptz NOT NULL, state text NOT NULL
     ) WITH (fillfactor = 50);
     CREATE TABLE dragoman.owners (
       session_id text PRIMARY KEY, tenant text NOT NULL DEFAULT '', agent text NOT NULL, home text NOT NULL, place text,
       node_id text, incarnation bigint, epoch bigint NOT NULL, wanted text
     ) WITH (fillfactor = 70);
     CREATE INDEX owners_node ON dragoman.owners (node_id, incarnation);
     CREATE FUNCTION dragoman.is_living(id text, life bigint) RETURNS boolean LANGUAGE sql STABLE AS
       'SELECT EXISTS (SELECT 1 FROM dragoman.nodes n WHERE n.node_id = id AND n.incarnation = life AND n.state <> ''fenced'')';
     CREATE FUNCTION dragoman.takes(id text, home text, place text, agent text) RETURNS boolean LANGUAGE sql STABLE AS
       'SELECT EXISTS (SELECT 1 FROM dragoman.nodes n WHERE n.node_id = id AND n.kind = ''node'' AND n.state = ''up'' AND n.lease_until >= clock_timestamp()
          AND (home = id OR (place IS NOT NULL AND n.places ? place)) AND n.agents ? agent)'`,
    "ALTER TABLE dragoman.nodes ADD COLUMN left_at timestamptz",
    // Rows of nodes that are gone are removed: a name that returns must not have an incarnation that it had before.
    `ALTER TABLE dragoman.owners ADD COLUMN released_by text;
     CREATE SEQUENCE dragoman.incarnations;
     SELECT setval('dragoman.incarnations', (SELECT coalesce(max(incarnation), 0) + 1 FROM dragoman.nodes), false)`,
    TOKEN_TABLES,
    // Locks the row of the owner: a claim of the same session passes it by until the stream is there.
    `CREATE OR REPLACE FUNCTION dragoman.may_create(p_owner text, p_kind text, p_id text) RETURNS boolean LANGUAGE plpgsql AS $body$ BEGIN
       IF p_owner IS NULL OR p_kind <> 'session' THEN RETURN true; END IF;
       PERFORM 1 FROM dragoman.owners o JOIN dragoman.nodes n ON n.node_id = o.node_id AND n.incarnation = o.incarnation
       WHERE o.session_id = p_id AND n.writer = p_owner FOR SHARE OF o;
       RETURN FOUND;
     END $body$`,
    "ALTER TABLE dragoman.nodes ADD COLUMN birth bigint NOT NULL DEFAULT 0",
    // What the last claim said, for a node that did not get its answer.
    "ALTER TABLE dragoman.owners ADD COLUMN moved_from text, ADD COLUMN moved_reason text",
    BY_TENANT,
    WITHOUT_TENANT,
  ],
};
