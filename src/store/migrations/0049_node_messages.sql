-- What nodes tell each other where there is no Redis: the notification names a row, the row has the words. Nothing of it
-- has to outlive the server: whoever asked and got no answer asks again or gives up.
CREATE UNLOGGED TABLE node_messages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  node text NOT NULL,
  body text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX node_messages_node ON node_messages (node, id);

-- Down Migration
-- Never: a database only moves forward.
