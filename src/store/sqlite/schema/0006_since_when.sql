-- Since when a request has stood in line: milliseconds since 1970 on the wall clock. Tickets of before do not say.
alter table tickets add column since integer;
