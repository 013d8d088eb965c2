-- Which sessions work on what, in their own words. Moments are milliseconds since 1970 on the wall clock.
create table sessions (
  session  text    not null primary key,
  name     text    not null,
  domain   text    not null,
  task     text    not null,
  label    text    not null,
  host     text    not null,
  began_at integer not null,
  seen_at  integer not null,
  ended_at integer
) strict, without rowid;

-- Words for who holds something. They go when they are heard.
create table words (
  id      integer primary key autoincrement,
  session text    not null,                    -- for whom
  holder  text    not null,                    -- from whom
  about   text    not null,
  word    text    not null,
  at      integer not null
) strict;
create index word_session on words (session);

-- What has been counted and is not in the ledger, or not in it any more.
create table tally (
  what  text    not null primary key,
  count integer not null
) strict, without rowid;

create trigger count_wait after insert on tickets begin
  insert into tally (what, count) values ('waits', 1) on conflict (what) do update set count = count + 1;
end;
