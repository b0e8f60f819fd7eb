-- Up Migration
-- Who made a link: whoever has it is its person, so it ends with the rights by which it was made.

-- null: the operator, at the command line
ALTER TABLE user_links ADD COLUMN made_by uuid REFERENCES users (id) ON DELETE CASCADE;

-- Down Migration
-- Never: a database only moves forward.
