
-- Which sessions work on what, in their own words.
create table @schema@.sessions (
  session  uuid        not null primary key,
  name     text        not null,
  domain   text        not null,
  task     text        not null,
  label    text        not null,
  host     text        not null,
  began_at timestamptz not null,
  seen_at  timestamptz not null,
  ended_at timestamptz
);

-- Words for who holds something. They go when they are heard.
create table @schema@.words (
  id      bigint generated always as identity primary key,
  session uuid        not null,                  -- for whom
  holder  text        not null,                  -- from whom
  about   text        not null,
  word    text        not null,
  at      timestamptz not null
);
create index word_session on @schema@.words (session, id);

-- What was counted and is not in the ledger any more.
create table @schema@.tally (
  what  text   not null primary key,
  count bigint not null
);
