-- count
SELECT COUNT(*) FROM visits;
-- count-alias
SELECT COUNT(*) AS n FROM visits AS v;
-- count-lower-case
select count(*) as n from VISITS;
-- count-column
SELECT COUNT(cost) AS n FROM visits;
-- count-not-null-column
SELECT COUNT(patient_id) AS n FROM visits;
-- count-people
SELECT COUNT(DISTINCT patient_id) AS people FROM visits;
-- count-where
SELECT COUNT(*) AS n FROM visits WHERE age >= 65 AND NOT (ward = 'A' OR ward IS NULL);
-- count-in
SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND age NOT IN (1, 2, 3);
-- count-between
SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 18 AND 64;
-- count-like
SELECT COUNT(*) AS n FROM visits WHERE note LIKE 'flu%' AND note NOT ILIKE '%covid%';
-- count-case
SELECT COUNT(*) AS n FROM visits WHERE CASE WHEN age < 18 THEN cost > 10 ELSE cost > 100 END;
-- count-coalesce
SELECT COUNT(*) AS n FROM visits WHERE COALESCE(cost, 0) > 10 AND NULLIF(age, 0) IS NOT NULL;
-- count-cast
SELECT COUNT(*) AS n FROM visits WHERE CAST(note AS INTEGER) = 7 AND note::DATE > DATE '2024-01-01';
-- count-division
SELECT COUNT(*) AS n FROM visits WHERE 100 / (age - 19) > 1;
-- count-date
SELECT COUNT(*) AS n FROM visits WHERE admitted >= '2024-01-01' AND EXTRACT(MONTH FROM admitted) = 2;
-- count-boolean
SELECT COUNT(*) AS n FROM visits WHERE smoker IS TRUE;
-- count-filter
SELECT COUNT(*) FILTER (WHERE smoker) AS smokers, COUNT(*) AS n FROM visits;
-- count-by-ward
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward;
-- count-by-ordinal
SELECT ward, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 2 DESC LIMIT 2;
-- count-by-boolean
SELECT smoker, COUNT(*) AS n FROM visits GROUP BY smoker;
-- count-by-age
SELECT age, COUNT(*) AS n FROM visits GROUP BY age;
-- count-by-decade
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade ORDER BY decade;
-- count-by-bins
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS stage, COUNT(*) AS n FROM visits GROUP BY stage;
-- count-by-two
SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY ward, smoker;
-- count-by-expression
SELECT age >= 65 AS retired, COUNT(*) AS n FROM visits GROUP BY age >= 65;
-- count-by-month
SELECT EXTRACT(MONTH FROM admitted) AS month, COUNT(*) AS n FROM visits GROUP BY month;
-- people-by-ward
SELECT ward, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY ward;
-- sum
SELECT SUM(cost) AS total FROM visits;
-- sum-integer
SELECT SUM(age) AS total FROM visits;
-- sum-scaled
SELECT SUM(cost * 1000) AS total FROM visits;
-- sum-square
SELECT SUM(age * age) AS total FROM visits;
-- sum-centred
SELECT SUM(age - 60) AS total FROM visits;
-- sum-case
SELECT SUM(CASE WHEN ward = 'A' THEN cost ELSE 1e6 END) AS total FROM visits;
-- sum-constant
SELECT SUM(2) AS twice FROM visits;
-- sum-clamped
SELECT SUM(LEAST(GREATEST(weight, 0), 200)) AS total FROM visits;
-- sum-filter
SELECT SUM(cost) FILTER (WHERE smoker) AS total FROM visits WHERE age > 20;
-- sum-by-ward
SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward;
-- sum-remainder
SELECT SUM(age % 10) AS total FROM visits;
-- sum-boolean
SELECT SUM(CAST(smoker AS INTEGER)) AS smokers FROM visits;
-- average
SELECT AVG(age) AS age FROM visits;
-- average-by-ward
SELECT ward, AVG(cost) AS cost, COUNT(*) AS n FROM visits GROUP BY ward;
-- average-and-its-count
SELECT AVG(cost) AS cost, COUNT(cost) AS n FROM visits;
-- average-expression
SELECT AVG(cost / 100 + age) AS mix FROM visits;
-- average-filter
SELECT AVG(cost) FILTER (WHERE ward = 'A') AS a, AVG(cost) FILTER (WHERE ward = 'B') AS b FROM visits;
-- several
SELECT COUNT(*) AS n, SUM(cost) AS total, AVG(age) AS age, COUNT(DISTINCT patient_id) AS people FROM visits;
-- ratio
SELECT SUM(cost) / COUNT(*) AS per_visit FROM visits;
-- share
SELECT ward, 100.0 * COUNT(*) FILTER (WHERE smoker) / COUNT(*) AS percent FROM visits GROUP BY ward;
-- arithmetic-after
SELECT COUNT(*) * 2 + 1 AS odd, -SUM(age) AS minus FROM visits;
-- having
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 10 ORDER BY n;
-- having-other-aggregate
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING AVG(cost) > 100;
-- order-by-key
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward DESC LIMIT 3 OFFSET 1;
-- aggregate-only-by-key
SELECT COUNT(*) AS n FROM visits GROUP BY ward;
-- comment
SELECT /* all of them */ COUNT(*) AS n -- really
FROM visits;
-- quoted-names
SELECT COUNT(*) AS "n of them" FROM "visits" WHERE "age" > 3;
-- missing-bounds
SELECT SUM(weight) FROM visits;
-- missing-bounds-by-division
SELECT SUM(cost / age) FROM visits;
-- missing-bounds-of-text
SELECT SUM(CAST(note AS DOUBLE)) FROM visits;
-- missing-keys
SELECT note, COUNT(*) FROM visits GROUP BY note;
-- missing-keys-of-number
SELECT cost, COUNT(*) FROM visits GROUP BY cost;
-- unknown-column
SELECT SUM(csot) FROM visits;
-- unknown-table
SELECT COUNT(*) FROM visit;
-- person-as-key
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id;
-- person-released
SELECT patient_id FROM visits;
-- star
SELECT * FROM visits;
-- no-aggregate
SELECT ward FROM visits;
-- minimum
SELECT MIN(age) FROM visits;
-- median
SELECT MEDIAN(age) FROM visits;
-- distinct-column
SELECT COUNT(DISTINCT ward) FROM visits;
-- distinct
SELECT DISTINCT ward FROM visits;
-- sub-query
SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits);
-- derived-table
SELECT COUNT(*) FROM (SELECT * FROM visits) AS v;
-- with
WITH v AS (SELECT * FROM visits) SELECT COUNT(*) FROM v;
-- join
SELECT COUNT(*) FROM visits AS a JOIN visits AS b ON a.patient_id = b.patient_id;
-- cross-join
SELECT COUNT(*) FROM visits, visits AS other;
-- union
SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits;
-- window
SELECT COUNT(*) OVER (PARTITION BY ward) FROM visits;
-- sample
SELECT COUNT(*) FROM visits TABLESAMPLE 10 PERCENT;
-- random
SELECT COUNT(*) FROM visits WHERE random() < 0.5;
-- file
SELECT COUNT(*) FROM 'visits.csv';
-- file-function
SELECT COUNT(*) FROM read_csv('visits.csv');
-- catalog
SELECT COUNT(*) FROM information_schema.tables;
-- two-statements
SELECT COUNT(*) FROM visits; DROP TABLE visits;
-- write
DELETE FROM visits;
-- setting
SET memory_limit = '1GB';
-- explain
EXPLAIN SELECT COUNT(*) FROM visits;
-- not-grouped
SELECT ward, COUNT(*) FROM visits;
-- nested-aggregate
SELECT SUM(COUNT(*)) FROM visits;
-- aggregate-in-where
SELECT COUNT(*) FROM visits WHERE COUNT(*) > 3;
-- types
SELECT COUNT(*) FROM visits WHERE ward > 3;
-- sum-of-text
SELECT SUM(ward) FROM visits;
-- syntax
SELECT COUNT(* FROM visits;
-- empty
;
-- count-by-cost-bins
SELECT FLOOR(cost / 1000) * 1000 AS bin, COUNT(*) AS n FROM visits GROUP BY bin;
-- count-by-month-name
SELECT CASE WHEN MONTH(admitted) = 1 THEN 'january' END AS month, COUNT(*) AS n FROM visits GROUP BY month;
-- count-by-null-key
SELECT COALESCE(ward, 'none') AS ward, COUNT(*) AS n FROM visits GROUP BY 1;
-- order-by-output-named-as-a-column
SELECT ward, AVG(cost) AS cost FROM visits GROUP BY ward ORDER BY cost DESC;

-- sum-far
SELECT SUM(cost + 1000000) FROM visits;

-- sum-far-by-ward
SELECT ward, SUM(cost - 1000000) FILTER (WHERE smoker), COUNT(*), AVG(cost) FROM visits GROUP BY ward;
-- equal-to-null
SELECT COUNT(*) AS n FROM visits WHERE age = NULL;
-- different-from-null
SELECT COUNT(*) AS n FROM visits WHERE NULL <> ward;
-- between-null
SELECT COUNT(*) AS n FROM visits WHERE cost BETWEEN 1 AND NULL;
-- equal-to-no-key
SELECT COUNT(*) AS n FROM visits WHERE ward = 'a';
-- different-from-no-key
SELECT SUM(CASE WHEN ward <> 'Surgery' THEN cost END) AS s FROM visits;
-- among-no-keys
SELECT COUNT(*) FILTER (WHERE ward IN ('A', 'F')) AS n FROM visits;
-- case-of-no-key
SELECT AVG(CASE ward WHEN 'f' THEN cost END) AS m FROM visits;
-- group-of-no-declared-value
SELECT CAST(ward AS INTEGER) AS k, COUNT(*) AS n FROM visits GROUP BY 1;
-- one-count
SELECT AVG(age) AS age, COUNT(*) AS n, COUNT(age) AS ages FROM visits;
-- one-count-by-ward
SELECT ward, AVG(cost) AS cost, COUNT(*) AS n, SUM(cost) AS total FROM visits WHERE age >= 18 GROUP BY ward;
-- one-count-sum
SELECT SUM(age) AS years, COUNT(*) AS n FROM visits;
-- one-count-missing
SELECT COUNT(*) AS n FROM visits WHERE age IS NULL;

-- variance
SELECT VARIANCE(age) AS v FROM visits;
-- variance-of-a-population
SELECT VAR_POP(cost) AS v, VAR_SAMP(cost) AS s FROM visits;
-- deviation
SELECT STDDEV(age) AS d FROM visits WHERE cost > 100;
-- deviation-by-ward
SELECT ward, STDDEV_POP(cost) AS d, AVG(cost) AS m FROM visits GROUP BY ward ORDER BY d DESC;
-- deviation-of-some
SELECT STDDEV_SAMP(cost) FILTER (WHERE smoker) AS d, STDDEV_SAMP(cost) FILTER (WHERE NOT smoker) AS other FROM visits;
-- deviation-over-mean
SELECT ward, STDDEV(cost) / AVG(cost) AS variation FROM visits GROUP BY ward;
-- variance-of-an-expression
SELECT VARIANCE(cost * 2 + age) AS v FROM visits;
-- variance-of-a-case
SELECT VAR_POP(CASE WHEN smoker THEN 1 ELSE 0 END) AS v FROM visits;
-- variance-by-age
SELECT CASE WHEN age < 18 THEN 'young' ELSE 'old' END AS k, VARIANCE(cost) AS v FROM visits GROUP BY k;
-- variance-hidden
SELECT ward, VARIANCE(age) AS v FROM visits GROUP BY ward HAVING COUNT(age) > 20 AND VARIANCE(age) > 10;
-- variance-beside-sum
SELECT SUM(cost) AS total, VARIANCE(cost) AS v, COUNT(cost) AS n, AVG(cost) AS m FROM visits;
-- variance-without-bounds
SELECT VARIANCE(weight) AS v FROM visits;
-- variance-clamped
SELECT STDDEV(LEAST(GREATEST(weight, 0), 200)) AS d FROM visits;
-- covariance
SELECT COVAR_POP(cost, age) AS c FROM visits;
-- covariance-of-a-sample
SELECT ward, COVAR_SAMP(age, cost) AS c FROM visits GROUP BY ward;
-- correlation
SELECT CORR(age, cost) AS r FROM visits;
-- correlation-by-ward
SELECT ward, CORR(age, cost) AS r, REGR_COUNT(age, cost) AS n FROM visits GROUP BY ward;
-- correlation-of-some
SELECT CORR(cost, age) FILTER (WHERE smoker) AS r FROM visits WHERE age >= 18;
-- correlation-with-itself
SELECT CORR(cost, cost) AS r FROM visits;
-- correlation-without-bounds
SELECT CORR(cost, weight) AS r FROM visits;
-- line
SELECT REGR_SLOPE(cost, age) AS slope, REGR_INTERCEPT(cost, age) AS intercept, REGR_R2(cost, age) AS r2 FROM visits;
-- line-by-ward
SELECT ward, REGR_SLOPE(cost, age) AS slope FROM visits GROUP BY ward;
-- means-of-pairs
SELECT REGR_AVGX(cost, age) AS age, REGR_AVGY(cost, age) AS cost, REGR_COUNT(cost, age) AS n FROM visits;
-- one-count-of-pairs
SELECT CORR(cost, age) AS r, AVG(cost) AS cost, AVG(age) AS age, COUNT(*) AS n, STDDEV(age) AS d FROM visits;
-- correlation-of-texts
SELECT CORR(ward, age) AS r FROM visits;
-- sums-of-squares
SELECT REGR_SXX(cost, age) AS s FROM visits;
