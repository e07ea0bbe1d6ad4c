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
-- date-by-year
SELECT YEAR(admitted) AS y, COUNT(*) AS n FROM visits GROUP BY y;
-- date-by-year-of-birth
SELECT EXTRACT(YEAR FROM born) AS y, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY 1;
-- date-by-month
SELECT DATE_TRUNC('month', admitted) AS m, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY m ORDER BY m;
-- date-by-quarter
SELECT DATE_TRUNC('quarter', admitted) AS q, AVG(cost) AS c FROM visits GROUP BY q;
-- date-by-week
SELECT DATE_TRUNC('week', admitted) AS w, COUNT(*) AS n FROM visits WHERE ward = 'A' GROUP BY w;
-- date-by-day
SELECT admitted, COUNT(*) AS n FROM visits GROUP BY admitted;
-- date-by-day-of-birth
SELECT born, COUNT(*) AS n FROM visits GROUP BY born;
-- date-by-weekday
SELECT DAYNAME(admitted) AS d, COUNT(*) AS n FROM visits GROUP BY d;
-- date-by-dow-and-ward
SELECT DATE_PART('isodow', admitted) AS d, ward, COUNT(*) AS n FROM visits GROUP BY d, ward;
-- date-by-iso-week
SELECT STRFTIME(admitted, '%G-W%V') AS w, COUNT(*) AS n FROM visits GROUP BY w;
-- date-by-text-month
SELECT STRFTIME(admitted, '%Y-%m') AS m, COUNT(*) AS n FROM visits GROUP BY m HAVING COUNT(*) > 10;
-- date-by-year-and-month
SELECT YEAR(admitted) * 100 + MONTH(admitted) AS ym, COUNT(*) AS n FROM visits GROUP BY ym;
-- date-by-decade
SELECT FLOOR(YEAR(born) / 10) * 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade;
-- date-by-age
SELECT FLOOR(AGE(DATE '2024-12-31', born) / 10) * 10 AS a, AVG(cost) AS c FROM visits GROUP BY a;
-- date-by-stay
SELECT DATEDIFF('week', admitted, discharged) AS w, COUNT(*) AS n FROM visits GROUP BY w;
-- date-stay
SELECT AVG(discharged - admitted) AS days FROM visits;
-- date-sum-of-days
SELECT SUM(DATEDIFF('day', admitted, discharged)) AS s FROM visits WHERE discharged >= admitted;
-- date-months
SELECT ward, AVG(DATEDIFF('month', born, admitted)) AS m FROM visits GROUP BY ward;
-- date-quarters
SELECT SUM(DATEDIFF('quarter', admitted, '2025-01-01')) AS q FROM visits;
-- date-age
SELECT AVG(AGE(admitted, born)) AS a, COUNT(*) AS n FROM visits;
-- date-age-extracted
SELECT AVG(EXTRACT(YEAR FROM AGE(admitted, born))) AS a FROM visits;
-- date-interval
SELECT COUNT(*) AS n FROM visits WHERE discharged <= admitted + INTERVAL '30 days';
-- date-interval-of-months
SELECT COUNT(*) AS n FROM visits WHERE admitted - INTERVAL 1 YEAR > '2023-01-31' AND born + 7 < DATE '2000-01-01';
-- date-moved-month
SELECT DATE_TRUNC('month', admitted + INTERVAL '1 month') AS m, COUNT(*) AS n FROM visits GROUP BY m;
-- date-filter
SELECT COUNT(*) FILTER (WHERE QUARTER(admitted) = 1 AND WEEK(discharged) < 20) AS n FROM visits;
-- date-text
SELECT COUNT(*) AS n FROM visits WHERE TO_CHAR(admitted, 'YYYY-MM') = '2024-02' OR MONTHNAME(born) = 'May';
-- date-age-today
SELECT AVG(AGE(born)) AS a FROM visits;
-- date-datediff-today
SELECT COUNT(*) AS n FROM visits WHERE DATEDIFF('day', admitted, CURRENT_DATE) < 30;
-- date-hour
SELECT EXTRACT(HOUR FROM admitted) AS h, COUNT(*) AS n FROM visits GROUP BY h;
-- date-pattern
SELECT STRFTIME(admitted, '%c') AS t, COUNT(*) AS n FROM visits GROUP BY t;
-- text-by-lower
SELECT LOWER(ward) AS w, COUNT(*) AS n FROM visits GROUP BY w;
-- text-by-part
SELECT LEFT(ward, 1) || '-' || smoker AS w, COUNT(*) AS n FROM visits GROUP BY 1;
-- text-by-concat
SELECT CONCAT(ward, '/', age // 60) AS w, AVG(cost) AS m FROM visits GROUP BY w;
-- text-by-start
SELECT STARTS_WITH(note, 'flu') AS flu, COUNT(*) AS n FROM visits GROUP BY flu;
-- text-where-trim
SELECT COUNT(*) AS n FROM visits WHERE TRIM(note) = 'flu' AND TRIM(BOTH 'x' FROM note) <> LTRIM(note) AND RTRIM(note, 'xy') <> '';
-- text-where-part
SELECT COUNT(*) AS n FROM visits WHERE SUBSTRING(note, 2, 3) = 'abc' AND SUBSTRING(note FROM 2) <> RIGHT(note, 3);
-- text-where-replace
SELECT COUNT(*) AS n FROM visits WHERE REPLACE(note, 'a', 'b') LIKE 'b%' AND POSITION('x' IN note) > 0;
-- text-where-contains
SELECT COUNT(*) AS n FROM visits WHERE CONTAINS(note, 'covid') AND NOT ENDS_WITH(note, '!') AND UPPER(note) <> note;
-- text-sum-length
SELECT SUM(LEAST(LENGTH(TRIM(note)), 100)) AS letters FROM visits;
-- text-of-a-number
SELECT COUNT(*) AS n FROM visits WHERE note || cost = 'a';
-- number-by-quotient
SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade ORDER BY decade;
-- number-by-hundreds
SELECT ROUND(cost, -3) AS about, COUNT(*) AS n FROM visits GROUP BY about;
-- number-by-bins
SELECT WIDTH_BUCKET(cost, 0, 10000, 4) AS bin, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY bin;
-- number-by-digits
SELECT FLOOR(LOG10(cost + 1)) AS digits, COUNT(*) AS n FROM visits GROUP BY digits;
-- number-power
SELECT AVG(age ^ 2) AS squares, SUM(POWER(age, 3)) AS cubes, AVG(age ** 0.5) AS roots FROM visits;
-- number-logarithms
SELECT AVG(LN(age)) AS e, AVG(LOG(age)) AS ten, AVG(LOG2(cost + 1)) AS two, AVG(LOG(3, age)) AS three FROM visits WHERE age > 0;
-- number-logarithm-of-zero
SELECT AVG(LN(cost)) AS m FROM visits;
-- number-logarithm-clamped
SELECT AVG(LN(GREATEST(cost, 1))) AS m FROM visits;
-- number-exponential
SELECT SUM(EXP(age / 100)) AS s, SUM(TRUNC(cost, 1)) AS t FROM visits;
-- number-power-of-a-power
SELECT SUM(2 ^ age ^ 2) AS s FROM visits;
-- number-said-by-a-text
SELECT COUNT(*) AS n FROM visits WHERE age > '65' AND cost < '1e3' AND smoker = 'yes' AND age IN ('70', '80');
-- number-not-said-by-a-text
SELECT COUNT(*) AS n FROM visits WHERE age > 'old';
-- boolean-sum
SELECT SUM(smoker) AS smokers, AVG(smoker) AS share, SUM(age > 65) AS old FROM visits;
-- boolean-count-if
SELECT ward, COUNT_IF(smoker) AS smokers, COUNTIF(age > 65) FILTER (WHERE smoker) AS both, MEAN(cost) AS cost FROM visits GROUP BY ward;
-- distinct-from
SELECT COUNT(*) AS n FROM visits WHERE ward IS DISTINCT FROM 'A' AND age IS NOT DISTINCT FROM 7 AND note IS NOT DISTINCT FROM ward;
-- distinct-from-null
SELECT age IS DISTINCT FROM NULL AS known, COUNT(*) AS n FROM visits GROUP BY known;
-- rows-in
SELECT COUNT(*) AS n FROM visits WHERE (ward, age) IN (('A', 1), ('B', 2)) AND (age, smoker) NOT IN ((3, TRUE));
-- rows-in-uneven
SELECT COUNT(*) AS n FROM visits WHERE (ward, age) IN (('A', 1, 2));
-- fetch-first
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC FETCH FIRST 2 ROWS ONLY;
-- cast-of-a-quotient
SELECT CAST(age / 10 AS INTEGER) AS decade, COUNT(*) AS n FROM visits GROUP BY decade;
-- functions-of-released
SELECT UPPER(ward) AS w, LN(COUNT(*)) AS l, COUNT(*) ^ 2 AS p, COUNT(*) // 10 AS t, ROUND(AVG(cost), -1) AS c FROM visits GROUP BY ward;
-- shape-with-filter
WITH adults AS (SELECT * FROM visits WHERE age >= 18) SELECT ward, COUNT(*) AS n FROM adults GROUP BY ward;
-- shape-with-two
WITH adults AS (SELECT * FROM visits WHERE age >= 18), smokers AS (SELECT * FROM adults WHERE smoker) SELECT COUNT(DISTINCT patient_id) AS people FROM smokers;
-- shape-sub-query-filter
SELECT COUNT(*) AS n FROM (SELECT * FROM visits WHERE age BETWEEN 18 AND 64) AS v WHERE v.smoker;
-- shape-three-levels
SELECT AVG(c) AS mean FROM (SELECT b AS c FROM (SELECT cost AS b FROM (SELECT * FROM visits WHERE smoker)) WHERE b < 500);
-- shape-renamed
SELECT w AS station, SUM(years) AS total FROM (SELECT ward AS w, age AS years FROM visits) GROUP BY w;
-- shape-computed
SELECT decade, AVG(cost) AS cost FROM (SELECT *, FLOOR(age / 10) * 10 AS decade FROM visits) GROUP BY decade ORDER BY decade;
-- shape-redefined
SELECT SUM(age) AS total FROM (SELECT age * 1000 AS age FROM visits);
-- shape-redefined-without-bounds
SELECT SUM(age) AS total FROM (SELECT weight AS age FROM visits);
-- shape-clamped-inside
SELECT AVG(kg) AS kg FROM (SELECT LEAST(GREATEST(weight, 0), 200) AS kg FROM visits);
-- shape-alias-shadows-person
SELECT patient_id, COUNT(*) AS n FROM (SELECT ward AS patient_id FROM visits) GROUP BY patient_id;
-- shape-person-renamed
SELECT COUNT(DISTINCT who) AS people FROM (SELECT patient_id AS who, age FROM visits) WHERE age > 65;
-- shape-person-as-key
SELECT who, COUNT(*) AS n FROM (SELECT patient_id AS who FROM visits) GROUP BY who;
-- shape-with-shadows-table
WITH visits AS (SELECT * FROM visits WHERE smoker) SELECT COUNT(*) AS n FROM visits;
-- shape-inner-limit
SELECT COUNT(*) AS n FROM (SELECT * FROM visits LIMIT 10);
-- shape-inner-group
SELECT AVG(n) AS mean FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
-- shape-inner-distinct
SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient_id FROM visits);
-- shape-inner-window
SELECT COUNT(*) AS n FROM (SELECT ROW_NUMBER() OVER (ORDER BY age) AS place FROM visits) WHERE place < 10;
-- shape-group-by-all
SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY ALL;
-- shape-distinct-keys
SELECT DISTINCT ward FROM visits;
-- shape-keys-alone
SELECT ward, smoker FROM visits GROUP BY ward, smoker ORDER BY ward DESC;
-- shape-distinct-with-condition
SELECT DISTINCT ward FROM visits WHERE age > 90;
-- shape-distinct-unknown
SELECT DISTINCT note FROM visits;
-- shape-narrowed
SELECT ward, COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') GROUP BY ward;
-- shape-narrowed-to-one
SELECT ward, AVG(cost) AS cost FROM visits WHERE ward = 'C' AND smoker GROUP BY ward;
-- shape-narrowed-unknown
SELECT note, COUNT(DISTINCT patient_id) AS people FROM visits WHERE note IN ('flu', 'cold') GROUP BY note;
-- shape-narrowed-to-nothing
SELECT ward, COUNT(*) AS n FROM visits WHERE ward = 'A' AND ward = 'B' GROUP BY ward;
-- shape-union-all
SELECT COUNT(*) AS n FROM visits WHERE smoker UNION ALL SELECT COUNT(*) AS n FROM visits WHERE age > 65;
-- shape-share
SELECT ward, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS percent FROM visits GROUP BY ward;
-- shape-share-in-part
SELECT ward, smoker, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY ward) AS share FROM visits GROUP BY ward, smoker;
-- shape-rank
SELECT ward, COUNT(*) AS n, RANK() OVER (ORDER BY n DESC) AS place FROM visits GROUP BY ward ORDER BY place;
-- shape-row-number
SELECT ward, ROW_NUMBER() OVER (ORDER BY AVG(cost) DESC, ward) AS place FROM visits GROUP BY ward;
-- shape-window-over-rows
SELECT ward, SUM(age) OVER (PARTITION BY ward) AS total FROM visits GROUP BY ward;
-- shape-running-total
SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) AS so_far FROM visits GROUP BY ward;

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
-- join-public
SELECT w.building, COUNT(*) AS n FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.building;
-- join-public-left
SELECT building, AVG(cost) AS cost FROM visits LEFT JOIN wards USING (ward) GROUP BY building;
-- join-public-sum
SELECT SUM(cost / beds) AS n FROM visits v JOIN wards w USING (ward) WHERE beds > 4;
-- join-public-first
SELECT COUNT(*) AS n FROM wards w JOIN visits v ON w.ward = v.ward AND w.beds = v.age;
-- join-public-twice
SELECT a.building, COUNT(*) AS n FROM visits v JOIN wards a ON v.ward = a.ward LEFT JOIN wards b ON v.note = b.ward WHERE b.beds IS NULL GROUP BY a.building;
-- join-public-sub-query
SELECT COUNT(*) AS n FROM visits v JOIN (SELECT ward, beds FROM wards WHERE building = 'North') w USING (ward);
-- join-public-unmatched
SELECT COUNT(*) AS n FROM visits v LEFT JOIN wards w USING (ward) WHERE w.ward IS NULL;
-- join-people
SELECT p.sex, COUNT(*) AS n, AVG(v.cost) AS cost FROM visits v JOIN patients p ON v.patient_id = p.patient_id GROUP BY p.sex;
-- join-people-left
SELECT COUNT(DISTINCT v.patient_id) AS n FROM visits v LEFT JOIN patients p USING (patient_id) WHERE p.born IS NULL;
-- join-people-and-public
SELECT building, AVG(2024 - born) AS age FROM patients JOIN visits USING (patient_id) JOIN wards USING (ward) GROUP BY building;
-- join-people-with-themselves
SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient_id = b.patient_id WHERE a.age < b.age;
-- join-not-unique
SELECT COUNT(*) AS n FROM visits v JOIN wards w ON v.age = w.beds;
-- join-public-alone
SELECT building, COUNT(*) AS n FROM wards GROUP BY building;
-- join-public-preserved
SELECT w.ward, COUNT(v.cost) AS n FROM wards w LEFT JOIN visits v USING (ward) GROUP BY w.ward;
-- join-cross
SELECT COUNT(*) AS n FROM visits, wards;
-- join-on-a-range
SELECT COUNT(*) AS n FROM visits v JOIN wards w ON v.age > w.beds;
-- join-people-on-something-else
SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.ward = b.ward;

-- per-person-average-visits
SELECT AVG(visits) AS v FROM (SELECT patient_id, COUNT(*) AS visits FROM visits GROUP BY patient_id) AS people;
-- per-person-average-visits-clamped
SELECT AVG(LEAST(n, 20)) AS v FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
-- per-person-frequent
WITH frequent AS (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 5) SELECT COUNT(*) AS n FROM frequent;
-- per-person-mean-cost
SELECT AVG(mean) AS m FROM (SELECT patient_id, AVG(cost) AS mean FROM visits GROUP BY patient_id);
-- per-person-total-cost
SELECT AVG(total) AS m FROM (SELECT patient_id, SUM(LEAST(cost, 500)) AS total FROM visits GROUP BY patient_id);
-- per-person-total-cost-clamped
SELECT SUM(LEAST(total, 5000)) AS m FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id);
-- per-person-all-smoke
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING BOOL_AND(smoker));
-- per-person-wards
SELECT AVG(n) AS m FROM (SELECT patient_id, COUNT(DISTINCT ward) AS n FROM visits GROUP BY patient_id);
-- per-person-spread
SELECT AVG(s) AS m, VARIANCE(d) AS v FROM (SELECT patient_id, STDDEV(cost) AS s, MAX(age) - MIN(age) AS d FROM visits GROUP BY patient_id);
-- per-person-by-ward
SELECT ward, COUNT(*) AS n, AVG(m) AS m FROM (SELECT patient_id, ward, AVG(cost) AS m FROM visits GROUP BY patient_id, ward) GROUP BY ward;
-- per-person-by-first-ward
SELECT first, COUNT(*) AS n FROM (SELECT patient_id, MIN(ward) AS first FROM visits WHERE age >= 18 GROUP BY patient_id) GROUP BY first;
-- per-person-by-visits
SELECT LEAST(n, 5) AS visits, COUNT(*) AS people FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY 1 ORDER BY 1;
-- per-person-by-bins
SELECT CASE WHEN n < 3 THEN 'few' ELSE 'many' END AS k, AVG(m) AS m FROM (SELECT patient_id, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY patient_id) GROUP BY k;
-- per-person-twice
SELECT AVG(m) AS v FROM (SELECT patient_id, AVG(a) AS m FROM (SELECT patient_id, ward, AVG(cost) AS a FROM visits GROUP BY patient_id, ward) GROUP BY patient_id);
-- per-person-renamed
SELECT COUNT(*) AS n FROM (SELECT p.times + 1 AS more FROM (SELECT patient_id AS who, COUNT(*) AS times FROM visits GROUP BY who) AS p WHERE p.times > 1) WHERE more < 9;
-- per-person-without-bounds
SELECT AVG(w) AS m FROM (SELECT patient_id, AVG(weight) AS w FROM visits GROUP BY patient_id);
-- per-person-not-by-person
SELECT AVG(n) AS m FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward);
-- per-person-ordered
SELECT COUNT(*) AS n FROM (SELECT patient_id FROM visits GROUP BY patient_id ORDER BY COUNT(*) DESC LIMIT 5);
-- per-person-largest
SELECT MAX(n) AS m FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
-- mean-by-person
SELECT AVG_BY_PERSON(cost) AS m FROM visits;
-- mean-by-person-and-ward
SELECT ward, AVG_BY_PERSON(age) AS m, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY ward;
-- mean-by-person-of-some
SELECT AVG_BY_PERSON(cost) FILTER (WHERE smoker) AS m, AVG(cost) AS a FROM visits;
-- time-by-hour
SELECT HOUR(arrived) AS hour, COUNT(*) AS n FROM visits GROUP BY hour ORDER BY hour;
-- time-by-hour-without-bounds
SELECT EXTRACT(hour FROM departed) AS hour, COUNT(*) AS n FROM visits GROUP BY 1;
-- time-by-day
SELECT DATE(arrived) AS day, COUNT(*) AS n FROM visits WHERE arrived < '2024-02-01' GROUP BY arrived::date;
-- time-by-month
SELECT DATE_TRUNC('month', arrived) AS month, AVG(cost) AS cost FROM visits GROUP BY month;
-- time-by-each-hour
SELECT DATE_TRUNC('hour', arrived) AS hour, COUNT(*) AS n FROM visits GROUP BY hour;
-- time-by-text
SELECT STRFTIME(arrived, '%H:00') AS hour, COUNT(*) AS n FROM visits GROUP BY hour;
-- time-by-moment
SELECT arrived, COUNT(*) AS n FROM visits GROUP BY arrived;
-- time-of-the-night
SELECT COUNT(*) AS n FROM visits WHERE arrived - INTERVAL '6 hours' < DATE '2024-06-01' AND NOT HOUR(arrived) BETWEEN 6 AND 21;
-- time-between
SELECT AVG(DATEDIFF('hour', arrived, TIMESTAMP '2025-01-01 00:00:00')) AS hours FROM visits;
-- time-between-without-bounds
SELECT AVG(DATEDIFF('hour', arrived, departed)) AS hours FROM visits;
-- time-age
SELECT SUM(AGE(arrived, DATE '2000-02-29')) AS years FROM visits;
-- time-now
SELECT COUNT(*) AS n FROM visits WHERE arrived > NOW() - INTERVAL '1 day';
-- time-subtracted
SELECT AVG(departed - arrived) AS x FROM visits;
-- mixed-with-lower-moments
WITH v AS (SELECT LOWER(ward) AS w, cost, age FROM visits WHERE NOT smoker) SELECT w, STDDEV(cost) AS d, CORR(cost, age) AS r FROM v GROUP BY w;
-- mixed-narrowed-share
SELECT ward, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM visits WHERE ward IN ('A', 'C', 'E') GROUP BY ward ORDER BY share DESC;
-- mixed-narrowed-moments
SELECT ward, VARIANCE(age) AS v, AVG(age) AS a, COUNT(*) AS n FROM visits WHERE ward <> 'B' AND age > 17 GROUP BY ward;
-- mixed-named-keys-rank
SELECT note, COUNT(*) AS n, RANK() OVER (ORDER BY n DESC) AS place FROM visits WHERE note IN ('flu', 'cold') GROUP BY note;
-- mixed-case-key-slope
SELECT CASE WHEN age // 20 < 2 THEN 'young' ELSE UPPER(ward) END AS k, REGR_SLOPE(cost, age) AS slope FROM visits GROUP BY k;
-- mixed-shadowed-person
SELECT patient_id, AVG(cost) AS c, COUNT(*) AS n FROM (SELECT ward AS patient_id, cost FROM visits WHERE age BETWEEN 18 AND 64) GROUP BY patient_id;
-- mixed-renamed-person
WITH v AS (SELECT patient_id AS who, smoker FROM visits) SELECT smoker, COUNT(DISTINCT who) AS people FROM v GROUP BY smoker;
-- mixed-swapped-columns
SELECT SUM(age) AS a, SUM(cost) AS c FROM (SELECT cost AS age, age AS cost FROM (SELECT * FROM visits WHERE smoker));
-- mixed-redefined-power
SELECT AVG(age) AS a, STDDEV_POP(age) AS d FROM (SELECT POWER(age, 2) / 10 AS age FROM visits);
-- mixed-text-length-by-share
SELECT STARTS_WITH(note, 'flu') AS flu, SUM(LEAST(LENGTH(note), 50)) / COUNT(*) AS letters FROM visits GROUP BY flu;
-- mixed-two-windows
SELECT ward, smoker, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY ward) AS part, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM visits GROUP BY ALL HAVING COUNT(*) > 5;
-- mixed-rank-is-no-key
SELECT DENSE_RANK() OVER (ORDER BY ward) AS k, COUNT(*) AS n FROM visits GROUP BY k;
-- mixed-rank-of-keys
SELECT ward, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY ward DESC) AS r FROM visits GROUP BY ALL;
-- mixed-moments-of-booleans
SELECT VAR_POP(smoker) AS v, CORR(age > 65, smoker) AS r, AVG(smoker) AS m FROM visits;
-- mixed-moments-filtered
SELECT STDDEV(cost) FILTER (WHERE ward = 'A') / STDDEV(cost) FILTER (WHERE ward = 'B') AS ratio FROM visits;
-- mixed-moments-of-logarithms
SELECT ward, AVG(LN(GREATEST(cost, 1))) AS m, STDDEV(LN(GREATEST(cost, 1))) AS d FROM visits GROUP BY ward;
-- mixed-moments-too-large
SELECT VARIANCE(POWER(age, age)) AS v FROM visits;
-- mixed-moments-without-bounds
WITH v AS (SELECT weight AS age FROM visits) SELECT STDDEV(age) AS d FROM v;
-- mixed-concat-key-narrowed
SELECT CONCAT(ward, '-', smoker) AS k, COUNT(*) AS n, COVAR_SAMP(age, cost) AS c FROM visits WHERE ward = 'A' GROUP BY k;
-- mixed-distinct-narrowed
SELECT DISTINCT ward FROM (SELECT ward FROM visits) WHERE ward NOT IN ('A', 'B') ORDER BY ward DESC FETCH FIRST 1 ROWS ONLY;
-- mixed-bucket-of-a-sub-query
SELECT WIDTH_BUCKET(c, 0, 100, 5) AS bin, COUNT_IF(old) AS old, MEAN(c) AS c FROM (SELECT cost / 100 AS c, age > 65 AS old FROM visits) GROUP BY bin;
-- mixed-limit-inside
SELECT AVG(age) AS a FROM (SELECT age FROM visits ORDER BY age LIMIT 10);
-- mixed-three-levels
WITH a AS (SELECT * FROM visits WHERE smoker), b AS (SELECT age + 1 AS age, ward FROM a WHERE age > 20) SELECT ward, SUM(age) AS s FROM (SELECT * FROM b WHERE ward IS NOT NULL) GROUP BY ward;
-- date-mixed-share-of-months
SELECT DATE_TRUNC('month', admitted) AS m, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits GROUP BY m ORDER BY m;
-- date-mixed-stay-moments
SELECT ward, STDDEV(discharged - admitted) AS d, CORR(cost, discharged - admitted) AS r FROM visits WHERE discharged >= admitted GROUP BY ward;
-- date-mixed-weekday-of-a-sub-query
SELECT d, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS place FROM (SELECT DAYNAME(admitted + INTERVAL '1 day') AS d FROM visits WHERE QUARTER(admitted) = 1) GROUP BY d;
-- date-mixed-narrowed-days
SELECT admitted, COUNT(*) AS n FROM visits WHERE admitted BETWEEN '2024-02-01' AND '2024-02-07' GROUP BY admitted;
-- date-mixed-text-key
SELECT ward || '/' || STRFTIME(admitted, '%Y') AS k, AVG(AGE(admitted, born)) AS a FROM visits GROUP BY k;
-- levels-rollup
SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, smoker);
-- levels-rollup-by-number
SELECT ward, smoker, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY ROLLUP (1, 2) ORDER BY GROUPING(ward), n DESC;
-- levels-cube
SELECT ward, smoker, SUM(cost) AS s, GROUPING(ward, smoker) AS bits FROM visits GROUP BY CUBE (ward, smoker);
-- levels-sets
SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward), (smoker), ());
-- levels-mixed
SELECT ward, age > 65 AS old, STDDEV(cost) AS d FROM visits GROUP BY ward, ROLLUP (old) HAVING GROUPING(old) = 1;
-- levels-of-people
SELECT ward, smoker, COUNT(DISTINCT patient_id) AS people, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward, smoker);
-- levels-of-people-means
SELECT ward, AVG_BY_PERSON(age) AS a FROM visits GROUP BY ROLLUP (ward);
-- levels-of-people-without-the-finest
SELECT ward, smoker, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY GROUPING SETS ((ward), (smoker));
-- levels-of-found-keys
SELECT note, COUNT(*) AS n FROM visits GROUP BY ROLLUP (note);
-- levels-shares
SELECT ward, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY GROUPING(ward)) AS share FROM visits GROUP BY ROLLUP (ward);
-- levels-inside
SELECT ward, n FROM (SELECT ward, smoker, COUNT(*) AS n FROM visits GROUP BY CUBE (ward, smoker)) WHERE n > 100;
-- levels-one
SELECT ward, COUNT(*) AS n FROM visits GROUP BY GROUPING SETS ((ward));
-- levels-of-another-key
SELECT GROUPING(smoker), COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward);
-- histogram
SELECT HISTOGRAM(age, 20) FROM visits;
-- histogram-by-hand
SELECT CASE WHEN age < 40 THEN 0 WHEN age < 80 THEN 40 ELSE 80 END AS age_from, COUNT(*) AS n FROM visits WHERE age IS NOT NULL GROUP BY age_from;
-- histogram-by-ward
SELECT ward, HISTOGRAM(cost, 4) AS n, AVG(age) AS a FROM visits WHERE smoker GROUP BY ward;
-- histogram-of-ends
SELECT HISTOGRAM(weight, [40, 60.5, 80, 120]) FILTER (WHERE age > 18) AS h FROM visits ORDER BY h_from DESC LIMIT 2;
-- histogram-without-bounds
SELECT HISTOGRAM(weight, 10) FROM visits;
-- histogram-of-values
SELECT HISTOGRAM(age) FROM visits;
-- histogram-of-people
SELECT HISTOGRAM(n, [1, 2, 5, 10]) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
-- histogram-distinct
SELECT HISTOGRAM(DISTINCT age, 20) FROM visits;
-- values-of-text
SELECT COUNT(DISTINCT note) AS notes FROM visits;
-- values-of-number
SELECT COUNT(DISTINCT cost) AS prices, COUNT(DISTINCT cost / 3) AS thirds FROM visits WHERE age > 18;
-- values-of-date
SELECT COUNT(DISTINCT admitted) AS days FROM visits;
-- values-of-boolean
SELECT ward, COUNT(DISTINCT smoker) AS kinds FROM visits GROUP BY ward;
-- values-by-ward
SELECT ward, COUNT(DISTINCT note) AS notes, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(DISTINCT note) > 3 ORDER BY notes DESC LIMIT 2;
-- values-filter
SELECT COUNT(DISTINCT note) FILTER (WHERE smoker) AS notes, COUNT(DISTINCT note) AS m, COUNT(DISTINCT patient_id) AS people FROM visits;
-- values-ratio
SELECT COUNT(DISTINCT note) / COUNT(*) AS share FROM visits;
-- values-approx
SELECT APPROX_COUNT_DISTINCT(note) AS notes FROM visits;
-- values-approx-people
SELECT APPROX_COUNT_DISTINCT(patient_id) AS people FROM visits;
-- values-expression
SELECT COUNT(DISTINCT UPPER(note) || '/' || ward) AS pairs FROM visits;
-- values-of-unknown-keys
SELECT note, COUNT(DISTINCT admitted) AS days FROM visits GROUP BY note;
-- values-two
SELECT COUNT(DISTINCT note, ward) FROM visits;
-- values-sum
SELECT SUM(DISTINCT cost) FROM visits;
-- values-renamed-like-the-person
SELECT COUNT(DISTINCT patient_id) AS n FROM (SELECT age AS patient_id FROM visits);
-- date-values-by-month
SELECT DATE_TRUNC('month', admitted) AS month, COUNT(DISTINCT note) AS notes FROM visits GROUP BY 1;
-- time-values
SELECT COUNT(DISTINCT arrived) AS moments, COUNT(DISTINCT DATE(arrived)) AS days FROM visits;
-- join-values
SELECT building, COUNT(DISTINCT note) AS notes, COUNT(DISTINCT beds) AS sizes FROM visits JOIN wards USING (ward) GROUP BY building;
-- join-values-of-people
SELECT COUNT(DISTINCT p.born) AS years FROM visits v JOIN patients p USING (patient_id);
-- quantile-by-group
SELECT ward, MEDIAN(age) AS m, QUANTILE(age, 0.9) AS high, COUNT(*) AS n FROM visits GROUP BY ward;
-- quantile-within-group
SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY cost DESC) FILTER (WHERE age > 65) AS q FROM visits;
-- quantile-between
SELECT QUANTILE(cost, 0.75) - QUANTILE(cost, 0.25) AS iqr FROM visits;
-- quantile-list
SELECT ward, QUANTILE_DISC(age, [0.1, 0.5, 0.9]) AS q FROM visits GROUP BY ward ORDER BY q_50;
-- quantile-beyond
SELECT QUANTILE(age, 1.5) FROM visits;
-- mode
SELECT MODE(ward) FROM visits WHERE age >= 65;
-- mode-by-group
SELECT ward, MODE(age // 10) AS decade, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY decade, ward;
-- mode-within-group
SELECT MODE() WITHIN GROUP (ORDER BY smoker) FILTER (WHERE cost > 100) AS smokes, AVG(cost) AS cost FROM visits;
-- mode-levels
SELECT ward, smoker, MODE(age) AS m FROM visits GROUP BY ROLLUP (ward, smoker);
-- mode-unknown
SELECT MODE(note) FROM visits;
-- mode-compared
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING MODE(age) > 65;
-- sampled-count
SELECT COUNT(*) AS n FROM visits;
-- sampled-sum
SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward;
-- sampled-mean
SELECT ward, AVG(age) AS age, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 10;
-- sampled-share
SELECT ward, COUNT(*) FILTER (WHERE age >= 65) / COUNT(*) AS old FROM visits GROUP BY ward;
-- sampled-people
SELECT COUNT(DISTINCT patient_id) FILTER (WHERE smoker) / COUNT(DISTINCT patient_id) AS smoke FROM visits;
-- sampled-of-people
SELECT AVG(n) AS n FROM (SELECT patient_id, LEAST(COUNT(*), 20) AS n FROM visits GROUP BY patient_id);
-- sampled-keys-found
SELECT note, AVG(age) AS age FROM visits GROUP BY note;
-- sampled-at-once-two-means
SELECT AVG(age) FILTER (WHERE smoker) - AVG(age) FILTER (WHERE NOT smoker) AS apart FROM visits;
-- sampled-median
SELECT MEDIAN(age) FROM visits;
-- sampled-levels
SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward);
-- at-once-by-ward
SELECT ward, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY ward;
