create table numbers(n integer primary key, text text);
with recursive count(i) as (select 1 union all select i + 1 from count where i < 100000)
insert into numbers select i, hex(i * 7919) from count;
create index by_text on numbers(text);
select count(*), sum(n), min(text), max(text) from numbers;
select sum(length(a.text || b.text)) from numbers a join numbers b on a.text = b.text;
delete from numbers where n % 3 = 0;
vacuum;
select count(*), sum(n) from numbers;
pragma integrity_check;
