-- Questions as analysts of an airline, an insurer, a school and a shop write them, before anybody asked what the language has.
-- A question begins with a line "-- name"; the tables are in tests/golden/analysts.py.

-- airline: bookings(passenger_id, booked date, departs timestamp, origin, dest, cabin, fare, miles, bags, delay, cancelled boolean, channel, age)
--          airports(faa, name, country, region), public

-- airline-1
SELECT COUNT(*) FROM bookings
-- airline-2
SELECT COUNT(DISTINCT passenger_id) AS passengers FROM bookings WHERE cabin = 'business'
-- airline-3
SELECT dest, COUNT(*) AS n FROM bookings GROUP BY dest ORDER BY n DESC LIMIT 10
-- airline-4
SELECT DATE_TRUNC('month', booked) AS month, SUM(fare) AS revenue FROM bookings GROUP BY 1 ORDER BY 1
-- airline-5
SELECT EXTRACT(dow FROM departs) AS weekday, AVG(delay) FROM bookings GROUP BY EXTRACT(dow FROM departs)
-- airline-6
SELECT cabin, AVG(fare) AS fare, STDDEV(fare) AS spread FROM bookings GROUP BY cabin
-- airline-7
SELECT MEDIAN(fare) FROM bookings WHERE origin = 'FRA' AND dest = 'JFK'
-- airline-8
SELECT origin, 100.0 * SUM(CASE WHEN cancelled THEN 1 ELSE 0 END) / COUNT(*) AS cancelled_percent FROM bookings GROUP BY origin
-- airline-9
SELECT AVG(cancelled) FROM bookings
-- airline-10
SELECT COUNT_IF(delay > 15) * 1.0 / COUNT(*) AS late FROM bookings WHERE NOT cancelled
-- airline-11
SELECT cabin, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM bookings GROUP BY cabin
-- airline-12
SELECT a.country, COUNT(*) AS flights FROM bookings b JOIN airports a ON b.dest = a.faa GROUP BY a.country
-- airline-13
SELECT a.region, AVG(b.fare) FROM bookings AS b LEFT JOIN airports AS a ON a.faa = b.dest GROUP BY a.region
-- airline-14
SELECT AVG(trips) FROM (SELECT passenger_id, COUNT(*) AS trips FROM bookings GROUP BY passenger_id) AS per_passenger
-- airline-15
WITH frequent AS (SELECT passenger_id, COUNT(*) AS n FROM bookings GROUP BY passenger_id HAVING COUNT(*) >= 5) SELECT COUNT(*) FROM frequent
-- airline-16
SELECT CORR(miles, fare) FROM bookings WHERE cabin = 'economy'
-- airline-17
SELECT REGR_SLOPE(fare, miles) AS per_mile, REGR_INTERCEPT(fare, miles) AS base FROM bookings
-- airline-18
SELECT HOUR(departs) AS hour, COUNT(*) FROM bookings GROUP BY HOUR(departs) ORDER BY hour
-- airline-19
SELECT cabin, channel, COUNT(*) FROM bookings GROUP BY ROLLUP (cabin, channel)
-- airline-20
SELECT AVG(DATEDIFF('day', booked, departs)) AS lead_days FROM bookings
-- airline-21
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(DISTINCT passenger_id) FROM bookings GROUP BY 1
-- airline-22
SELECT QUANTILE_CONT(delay, 0.9) FROM bookings WHERE NOT cancelled
-- airline-23
SELECT origin, dest, COUNT(*) AS n FROM bookings WHERE origin IN ('FRA', 'MUC') AND dest IN ('JFK', 'LHR', 'CDG') GROUP BY origin, dest
-- airline-24
SELECT COUNT(*) FROM bookings WHERE booked BETWEEN '2024-06-01' AND '2024-08-31'
-- airline-25
SELECT COUNT(DISTINCT dest) FROM bookings WHERE origin = 'MUC'
-- airline-26
SELECT cabin, SUM(bags) / COUNT(*) AS bags_per_booking FROM bookings GROUP BY ALL
-- airline-27
SELECT STRFTIME(departs, '%Y-%m') AS month, COUNT(*) FROM bookings GROUP BY 1
-- airline-28
SELECT dest, n, RANK() OVER (ORDER BY n DESC) AS place FROM (SELECT dest, COUNT(*) AS n FROM bookings GROUP BY dest) AS t
-- airline-29
SELECT CASE WHEN miles < 500 THEN 'short' WHEN miles < 2000 THEN 'medium' ELSE 'long' END AS haul, AVG(fare / miles) FROM bookings WHERE miles > 0 GROUP BY 1
-- airline-30
SELECT MODE(cabin) FROM bookings WHERE age >= 65

-- insurer: claims(customer_id, filed date, settled date, kind, region, amount, paid, fraud boolean, age, sex, premium, adjuster text)
--          customers(customer_id, since date, plan, postcode text), private

-- insurer-1
SELECT kind, COUNT(*) AS claims, SUM(paid) AS paid FROM claims GROUP BY kind
-- insurer-2
SELECT region, SUM(paid) / SUM(premium) AS loss_ratio FROM claims GROUP BY region
-- insurer-3
SELECT AVG(settled - filed) AS days_to_settle FROM claims WHERE settled IS NOT NULL
-- insurer-4
SELECT YEAR(filed) AS year, kind, COUNT(*) FROM claims GROUP BY YEAR(filed), kind ORDER BY year, kind
-- insurer-5
SELECT COUNT(*) FILTER (WHERE fraud) AS fraud, COUNT(*) AS all_claims FROM claims
-- insurer-6
SELECT sex, MEDIAN(amount) FROM claims GROUP BY sex
-- insurer-7
SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY amount), PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY amount) FROM claims
-- insurer-8
SELECT AVG(total) FROM (SELECT customer_id, SUM(LEAST(paid, 20000)) AS total FROM claims GROUP BY customer_id) t
-- insurer-9
SELECT COUNT(*) FROM claims WHERE amount > 1000 AND kind IS DISTINCT FROM 'glass'
-- insurer-10
SELECT VAR_SAMP(amount), STDDEV_POP(amount), AVG(amount) FROM claims WHERE kind = 'fire'
-- insurer-11
SELECT WIDTH_BUCKET(amount, 0, 10000, 10) AS bucket, COUNT(*) FROM claims GROUP BY 1 ORDER BY 1
-- insurer-12
SELECT c.plan, COUNT(*) FROM claims JOIN customers c ON claims.customer_id = c.customer_id GROUP BY c.plan
-- insurer-13
SELECT LEFT(postcode, 1) AS area, COUNT(*) FROM customers GROUP BY LEFT(postcode, 1)
-- insurer-14
SELECT QUARTER(filed) AS q, SUM(amount) FROM claims WHERE YEAR(filed) = 2023 GROUP BY q ORDER BY q
-- insurer-15
SELECT AVG(LN(amount)) FROM claims WHERE amount > 0
-- insurer-16
SELECT region, COUNT(*) AS n FROM claims GROUP BY region HAVING COUNT(*) > 50 ORDER BY region
-- insurer-17
SELECT COUNT(*) FROM claims WHERE (kind, region) IN (('fire', 'north'), ('water', 'south'))
-- insurer-18
SELECT ROUND(AVG(amount), 2) AS mean, COUNT(amount) AS n FROM claims WHERE age BETWEEN 30 AND 39
-- insurer-19
SELECT DATE_TRUNC('quarter', filed)::DATE AS quarter, COUNT(DISTINCT customer_id) FROM claims GROUP BY 1 ORDER BY 1
-- insurer-20
SELECT kind, SUM(amount) AS s, SUM(amount) * 100 / SUM(SUM(amount)) OVER () AS percent FROM claims GROUP BY kind ORDER BY s DESC
-- insurer-21
SELECT COUNT(*) FROM (SELECT * FROM claims WHERE fraud) f WHERE f.amount > 5000
-- insurer-22
SELECT SUM(amount - paid) AS refused FROM claims
-- insurer-23
SELECT COVAR_POP(age, amount), CORR(age, amount) FROM claims
-- insurer-24
SELECT region, kind, COUNT(*) FROM claims GROUP BY GROUPING SETS ((region), (kind), ())
-- insurer-25
SELECT AVG(CASE WHEN fraud THEN 1.0 ELSE 0.0 END) AS rate FROM claims WHERE filed >= DATE '2023-01-01' - INTERVAL 6 MONTH
-- insurer-26
SELECT MAX(amount) FROM claims
-- insurer-27
SELECT HISTOGRAM(age, 20) FROM claims
-- insurer-28
SELECT AVG_BY_PERSON(amount) FROM claims
-- insurer-29
SELECT COUNT(*) FROM claims WHERE LOWER(TRIM(adjuster)) LIKE 'sm%th'
-- insurer-30
SELECT DISTINCT region FROM claims

-- school: exams(student_id, school, grade, subject, taken date, points, passed boolean, absences, sex, born date, teacher text)

-- school-1
SELECT subject, AVG(points) FROM exams GROUP BY subject
-- school-2
SELECT school, AVG(CAST(passed AS INTEGER)) AS pass_rate FROM exams GROUP BY school
-- school-3
SELECT COUNT(DISTINCT student_id) FROM exams WHERE absences > 10
-- school-4
SELECT sex, subject, AVG(points) AS mean, STDDEV_SAMP(points) AS sd, COUNT(*) AS n FROM exams GROUP BY sex, subject
-- school-5
SELECT AGE(taken, born) AS years, COUNT(*) FROM exams GROUP BY 1
-- school-6
SELECT AVG(best) FROM (SELECT student_id, MAX(points) AS best FROM exams GROUP BY student_id) AS s
-- school-7
SELECT CORR(absences, points) AS r FROM exams
-- school-8
SELECT grade, PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY points) FROM exams GROUP BY grade
-- school-9
SELECT points // 10 * 10 AS band, COUNT(*) FROM exams GROUP BY band ORDER BY band
-- school-10
SELECT school, COUNT(*) FROM exams WHERE subject = 'maths' AND grade = '10' GROUP BY school
-- school-11
SELECT MONTH(taken) AS m, COUNT(*) FROM exams GROUP BY m
-- school-12
SELECT AVG(mean) FROM (SELECT student_id, AVG(points) AS mean FROM exams GROUP BY student_id) AS per_student
-- school-13
WITH marks AS (SELECT student_id, subject, points / 100.0 AS share FROM exams WHERE points IS NOT NULL) SELECT subject, AVG(share) FROM marks GROUP BY subject
-- school-14
SELECT COUNT(*) FROM (SELECT student_id FROM exams GROUP BY student_id HAVING BOOL_AND(passed)) AS all_passed
-- school-15
SELECT school, AVG(points) - 50 AS above_half FROM exams GROUP BY school ORDER BY 2 DESC FETCH FIRST 3 ROWS ONLY
-- school-16
SELECT SUM(passed::INT) FROM exams
-- school-17
SELECT subject, COUNT(*) FILTER (WHERE points >= 90) * 100.0 / COUNT(*) AS top FROM exams GROUP BY subject
-- school-18
SELECT EXTRACT(year FROM born) AS cohort, COUNT(DISTINCT student_id) FROM exams GROUP BY cohort ORDER BY cohort
-- school-19
SELECT COUNT(*) FROM exams WHERE teacher ILIKE '%müller%'
-- school-20
SELECT school || '/' || subject AS class, COUNT(*) FROM exams GROUP BY 1
-- school-21
SELECT POWER(AVG(points), 2) FROM exams
-- school-22
SELECT SQRT(VARIANCE(points)) FROM exams WHERE subject = 'maths'
-- school-23
SELECT MIN(points) FROM exams
-- school-24
SELECT grade, subject, AVG(points) FROM exams GROUP BY CUBE (grade, subject)
-- school-25
SELECT COALESCE(subject, 'none') AS subject, COUNT(*) FROM exams GROUP BY COALESCE(subject, 'none')
-- school-26
SELECT AVG(n) FROM (SELECT student_id, COUNT(DISTINCT subject) AS n FROM exams GROUP BY student_id) t
-- school-27
SELECT WEEK(taken) AS week, COUNT(*) FROM exams WHERE YEAR(taken) = 2024 GROUP BY week
-- school-28
SELECT REGR_R2(points, absences) FROM exams
-- school-29
SELECT subject, QUANTILE(points, [0.1, 0.5, 0.9]) FROM exams GROUP BY subject
-- school-30
SELECT COUNT(*) - COUNT(points) AS missing FROM exams

-- shop: orders(customer_id, ordered timestamp, product, category, quantity, price, country, channel, returned boolean, rating, email text)
--       products(product, supplier, category), public

-- shop-1
SELECT category, SUM(quantity * price) AS turnover FROM orders GROUP BY category ORDER BY turnover DESC
-- shop-2
SELECT DATE_TRUNC('week', ordered) AS week, COUNT(*) FROM orders GROUP BY week ORDER BY week
-- shop-3
SELECT AVG(quantity * price) AS basket FROM orders
-- shop-4
SELECT country, COUNT(DISTINCT customer_id) AS customers FROM orders GROUP BY country ORDER BY customers DESC LIMIT 5
-- shop-5
SELECT channel, AVG(rating), COUNT(rating) FROM orders GROUP BY channel
-- shop-6
SELECT SUM(price * quantity) / COUNT(DISTINCT customer_id) AS per_customer FROM orders
-- shop-7
SELECT category, SUM(CASE WHEN returned THEN price * quantity ELSE 0 END) / SUM(price * quantity) AS returned FROM orders GROUP BY category
-- shop-8
SELECT p.supplier, SUM(o.quantity) FROM orders o JOIN products p USING (product) GROUP BY p.supplier
-- shop-9
SELECT EXTRACT(hour FROM ordered) AS h, COUNT(*) FROM orders WHERE channel = 'web' GROUP BY h
-- shop-10
SELECT COUNT(*) FROM (SELECT customer_id FROM orders GROUP BY customer_id HAVING COUNT(*) > 1) repeat_buyers
-- shop-11
SELECT rating, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM orders GROUP BY rating
-- shop-12
SELECT APPROX_QUANTILE(price, 0.5) FROM orders WHERE category = 'books'
-- shop-13
SELECT SUBSTRING(email FROM POSITION('@' IN email) + 1) AS host, COUNT(*) FROM orders GROUP BY host
-- shop-14
SELECT country, category, COUNT(*) FROM orders GROUP BY country, category ORDER BY country, COUNT(*) DESC
-- shop-15
SELECT COUNT(DISTINCT product) FROM orders WHERE country = 'DE'
-- shop-16
SELECT DATE_PART('isodow', ordered) AS day, SUM(price * quantity) FROM orders GROUP BY 1
-- shop-17
SELECT AVG(TRY_CAST(rating AS DOUBLE)) FROM orders
-- shop-18
SELECT STDDEV(price * quantity) FROM orders
-- shop-19
SELECT COUNT(*) FROM orders WHERE email IS NULL OR email NOT LIKE '%@%'
-- shop-20
SELECT UPPER(country) AS country, SUM(quantity) FROM orders GROUP BY UPPER(country)
-- shop-21
WITH spend AS (SELECT customer_id, SUM(LEAST(price * quantity, 500)) AS total FROM orders GROUP BY customer_id) SELECT AVG(LEAST(total, 2000)), MEDIAN(LEAST(total, 2000)) FROM spend
-- shop-22
SELECT channel, ROUND(AVG(price), 1) FROM orders GROUP BY channel
-- shop-23
SELECT category, MEAN(price) FROM orders WHERE ordered >= '2024-01-01' AND ordered < '2024-07-01' GROUP BY category
-- shop-24
SELECT COUNT(*) FROM orders WHERE ordered > NOW() - INTERVAL '30 days'
-- shop-25
SELECT category FROM orders GROUP BY category
-- shop-26
SELECT CASE WHEN quantity >= 10 THEN 'bulk' ELSE 'single' END AS size, COUNT(*), AVG(price) FROM orders GROUP BY size
-- shop-27
SELECT country, COUNT(*) FROM orders WHERE country IN ('DE', 'FR', 'IT') GROUP BY country
-- shop-28
SELECT SUM(returned) * 100.0 / COUNT(*) FROM orders
-- shop-29
SELECT a.category, a.n FROM (SELECT category, COUNT(*) AS n FROM orders WHERE NOT returned GROUP BY category) AS a WHERE a.n > 100
-- shop-30
SELECT YEAR(ordered) AS y, MONTH(ordered) AS m, SUM(price * quantity) FROM orders GROUP BY y, m UNION ALL SELECT 0, 0, SUM(price * quantity) FROM orders
