create table t(a integer primary key, b integer, c text);
begin;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
insert into t select i, (i * 7919) % 40009, 'row ' || (i * 104729) % 40031 from n;
commit;
create index tb on t(b);
create index tc on t(c);
select count(*), sum(x.a) from t x join t y on x.b = y.a where y.c like '%7';
update t set c = c || '!' where b % 3 = 0;
select c, count(*) from t group by substr(c, 1, 6) order by 2 desc, 1 limit 3;
delete from t where a % 5 = 0;
