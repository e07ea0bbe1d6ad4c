/**
 * The client of local privacy for browsers and node 18 or later: it does what `discreet.local.Client` does, on a person's own machine.
 *
 *     const campaign = await Campaign.read(text);             // Invalid for any text that is not a campaign's own
 *     const report = await new Client(campaign).report("bike");
 *     report.bytes, report.json                               // either may be sent
 *
 * For any two answers the chances of any report differ by a factor of at most e^ε of the campaign: every probability is an integer over
 * 2^64, rounded so that less is told, and a coin compares it with a word of 64 bits from `crypto.getRandomValues`. It is computed by the same
 * steps in integers as in Python, so it is the same one. No floating-point number and no other generator has a part in what is told.
 * Browsers have the SHA-256 that this needs on pages that came by HTTPS, or from the machine itself.
 */

const crypto = globalThis.crypto ?? (await import("node:crypto")).webcrypto; // where node 18 has it

const MOST_TEXT = 1 << 25; // letters of a campaign's text
const MOST_LETTERS = 10_000; // of a question or of a label
const MOST_CELLS = 1 << 20;
const MOST_STEPS = 1 << 16; // of a grid of numbers
const LARGEST = 10n ** 100n; // of a number; a range is no narrower than one over this
const MOST_TABLE = 1 << 22; // cells of all levels of prefixes
const DIGITS = 64n; // of a probability
const ONE = 1n << DIGITS;
const BOUND = 16; // bytes of a campaign's identity in a report
const TOKEN = 16; // bytes of a one-time token

/** An argument cannot be used; nothing was drawn or spent. No message says the answer. */
export class Invalid extends Error {
  constructor(message, code = "invalid") {
    super(message);
    this.name = "Invalid";
    this.code = code;
  }
}

/** The terms of the campaign do not allow it. */
export class Refused extends Error {
  constructor(message, code) {
    super(message);
    this.name = "Refused";
    this.code = code;
  }
}

/** What is asked, which answers there are, how they are randomised, at which ε, and until when (in seconds since 1970). */
export class Campaign {
  constructor(fields, identity) {
    Object.assign(this, fields, { id: hex(identity), bound: identity.slice(0, BOUND) });
    Object.freeze(this);
  }

  /** The campaign of its one text; Invalid for any other text, and for a protocol that is not known here. */
  static async read(text) {
    const fields = recordOf(text, "campaign", ["domain", "epsilon", "expires", "protocol", "question", "salt"]);
    const { question, protocol, salt, expires } = fields;
    if (!isText(question, 1, MOST_LETTERS)) throw new Invalid(`question must be a text of 1 to ${MOST_LETTERS} letters`);
    if (!isText(salt, 0, 128) || !/^(?:[0-9a-f]{2}){16,64}$/.test(salt)) throw malformed("campaign");
    if (!Number.isSafeInteger(expires) || expires < 1) throw new Invalid("expires must be in seconds since 1970");
    const epsilon = ratioOf(fields.epsilon, "epsilon");
    if (epsilon.top * 1_000_000n < epsilon.below || epsilon.top > 20n * epsilon.below) {
      throw new Invalid("epsilon must lie between 1/1000000 and 20");
    }
    if (!isText(protocol, 1, 100) || !Object.hasOwn(PROTOCOLS, protocol)) {
      throw new Invalid(`this client knows the protocols ${Object.keys(PROTOCOLS).join(", ")} only`, "protocol");
    }
    const domain = domainOf(fields.domain);
    const randomiser = new PROTOCOLS[protocol](domain, epsilon);
    const identity = await sha256(new TextEncoder().encode(text));
    return new Campaign({ question, domain, protocol, randomiser, epsilon: fields.epsilon, salt, expires }, identity);
  }

  /** What taking part costs: for people to read before they answer. */
  get notice() {
    return `A report tells at most ε = ${this.epsilon} of the answer. What is told in several campaigns adds up.`;
  }
}

/** A report as it travels, as bytes or as JSON; it holds no more of a person than the randomised answer. */
export class Report {
  constructor(protocol, code, campaign, token, answer) {
    this.protocol = protocol;
    this.bytes = joined([1, code], campaign, token, answer);
  }

  get json() {
    const head = 2 + BOUND + TOKEN;
    const [campaign, token, answer] = [[2, 2 + BOUND], [2 + BOUND, head], [head]].map((ends) => hex(this.bytes.slice(...ends)));
    return written({ answer, campaign, format: "discreet.local.report", protocol: this.protocol, token, version: 1 });
  }
}

/**
 * One person in one campaign, who reports once: a second report would cost ε again, so there is none as long as this object lives, and
 * whoever asks again gets the first one. An application that starts again has to remember what it has sent.
 * `words` (a function that gives integers below 2^64) and `clock` are for tests: what is not drawn from the secure source is not private.
 */
export class Client {
  #campaign;
  #coins;
  #clock;
  #reported = null;

  constructor(campaign, { words = secureWords(), clock = () => Date.now() / 1000 } = {}) {
    if (!(campaign instanceof Campaign)) throw new Invalid("campaign must be one that Campaign.read gave");
    this.#campaign = campaign;
    this.#coins = new Coins(words);
    this.#clock = clock;
  }

  /**
   * The report of this person, randomised; the first one again, if there is one, whatever the value and the token are now.
   * `token` is one that was given to this person, 16 bytes, or null for a random one.
   */
  async report(value, token = null) {
    const { domain, expires } = this.#campaign;
    if (token !== null && !(token instanceof Uint8Array && token.length === TOKEN)) {
      throw new Invalid(`token must be ${TOKEN} bytes`);
    }
    const encoded = domain.encoded(value);
    if (!(this.#clock() < expires)) throw new Refused("the campaign is over", "expired");
    this.#reported ??= this.#drawn(encoded, token && token.slice()); // nothing is awaited before this: two calls at once have one report
    return this.#reported;
  }

  async #drawn(encoded, token) {
    const { randomiser, protocol, bound } = this.#campaign;
    const answer = randomiser.pack(await randomiser.randomise(encoded, this.#coins));
    const ticket = token ?? joined(little(this.#coins.word(), 8), little(this.#coins.word(), 8));
    return new Report(protocol, randomiser.code, bound, ticket, answer);
  }
}

// ---------------------------------------------------------------------------------------------------------------- randomness

/** Words of 64 bits from the secure source; a used word is overwritten. */
function secureWords() {
  const pool = new BigUint64Array(64);
  let read = pool.length;
  return () => {
    if (read === pool.length) {
      crypto.getRandomValues(pool);
      read = 0;
    }
    const word = pool[read];
    pool[read++] = 0n;
    return word;
  };
}

/** Exact coins and uniform integers. */
export class Coins {
  constructor(words) {
    this.word = words;
  }

  /** True with probability chance/2^64, exactly. */
  heads(chance) {
    return this.word() < chance;
  }

  /** True with probability top/below, exactly: the binary digits of the ratio are compared with random ones, 64 at a time. */
  ratio(top, below) {
    for (let rest = top; ; ) {
      const digits = (rest << DIGITS) / below;
      const word = this.word();
      rest = (rest << DIGITS) % below;
      if (word !== digits || rest === 0n) return word < digits;
    }
  }

  /** A uniform integer in 0 … n − 1, for n up to 2^64: words that are too large are drawn again. */
  below(n) {
    if (n === 1n) return 0n;
    const mask = (1n << BigInt(bitLength(n - 1n))) - 1n;
    for (;;) {
      const value = this.word() & mask;
      if (value < n) return value;
    }
  }

  /** The value with probability keep/2^64, else another one of k, uniformly; both are drawn whichever is told. */
  keepOrReplace(value, k, keep) {
    const other = this.below(k - 1n);
    return this.heads(keep) ? value : other + BigInt(other >= value);
  }
}

// ------------------------------------------------------------------------------------------------------------- probabilities

/**
 * Integers lo, hi with lo <= 2^bits e^(−x) <= hi < 2^bits e^(−x) + 2, for a ratio x > 0: `exp_neg_bounds` of discreet/exact.py, step by step.
 *
 * The series at y = x/2^k < 2^−6 has n < 40 terms with p = bits + k + 24 digits; what is cut off and left out is less than 3n + 8 < 2^7
 * units of 2^−p. A squaring at most doubles the distance of the brackets, and adds a unit: k of them make less than 2^(k + 9), which is less
 * than 2^(p − bits), a unit of 2^−bits; the last rounding adds another.
 */
export function expNegBounds({ top, below }, bits) {
  if (top > BigInt(bits + 1) * below) return [0n, 1n];
  const k = Math.max(0, bitLength(top) - bitLength(below) + 7);
  const p = BigInt(bits + k + 24);
  const y = (top << p) / (below << BigInt(k));
  let [total, term, n] = [0n, 1n << p, 0n];
  while (term) {
    total += n & 1n ? -term : term;
    n += 1n;
    term = ((term * y) >> p) / n;
  }
  const slack = 3n * n + 8n;
  let [lo, hi] = [total > slack ? total - slack : 0n, total + slack];
  for (let each = 0; each < k; each++) [lo, hi] = [(lo * lo) >> p, shiftUp(hi * hi, p)];
  const excess = p - BigInt(bits);
  return [lo >> excess, shiftUp(hi, excess)];
}

/**
 * 2^64 e^ε/(e^ε + k − 1), rounded down by less than two units: at most ε is told.
 *
 * It is 1/(1 + (k − 1) e^(−ε)), which moves by at most k − 1 times what e^(−ε) moves by. That is rounded up by less than two units, each of
 * which is less than a fourth of 2^−64/k; the division loses less than one unit more.
 */
export function truthDown(epsilon, k) {
  const precision = 64 + bitLength(k) + 2;
  const [, above] = expNegBounds(epsilon, precision);
  const one = 1n << BigInt(precision);
  return (one << DIGITS) / (one + (k - 1n) * above);
}

/** The integer next to e^ε, and one more, by a lower bound of e^ε: `best_buckets` of discreet/local/hashing.py. */
function bestBuckets(epsilon) {
  const [, above] = expNegBounds(epsilon, 128);
  return ((2n << 128n) + above) / (2n * above) + 1n;
}

// ------------------------------------------------------------------------------------------------------------------- domains

/** One of declared labels; for a number k they are 0 … k − 1. true, 1 and "1" are three labels. */
class Choices {
  constructor(answers) {
    const several = Array.isArray(answers);
    this.k = several ? answers.length : answers;
    if (!Number.isSafeInteger(this.k) || this.k < 2 || this.k > MOST_CELLS) {
      throw new Invalid("domain must be 2 to 2^20 labels, or their number");
    }
    if (!several) return;
    if (!answers.every(isLabel)) {
      throw new Invalid(`a label must be a text of at most ${MOST_LETTERS} letters, an integer below 2^53 or a boolean`);
    }
    this.cells = new Map(answers.map((label, cell) => [label, cell]));
    if (this.cells.size < this.k) throw new Invalid("domain must have labels that differ");
  }

  encoded(value) {
    const counted = Number.isSafeInteger(value) && value >= 0 && value < this.k ? value : undefined;
    const cell = this.cells ? this.cells.get(value) : counted;
    if (cell === undefined) throw new Invalid("value is not in the domain of the campaign");
    return BigInt(cell);
  }
}

/** A number from low to high, on a public grid of so many steps. Its code is how many steps it lies above low, as an exact ratio. */
class Numbers {
  constructor(record) {
    if (!hasKeys(record, ["high", "kind", "low", "steps"])) throw new Invalid("this is not a domain of numbers", "malformed");
    const { steps } = record;
    [this.low, this.high] = [ratioOf(record.low, "low"), ratioOf(record.high, "high")];
    this.width = minus(this.high, this.low);
    if (this.width.top <= 0n) throw new Invalid("low must be less than high");
    if ([this.low, this.high].some(({ top, below }) => top > LARGEST * below || -top > LARGEST * below) || this.width.top * LARGEST < this.width.below) {
      throw new Invalid("low and high must lie within 10^100, and be at least 10^-100 apart");
    }
    if (!Number.isSafeInteger(steps) || steps < 1 || steps > MOST_STEPS) throw new Invalid("steps must be 1 to 2^16");
    this.steps = BigInt(steps);
  }

  encoded(value) {
    const above = minus(decimalOf(value), this.low);
    const [top, below] = [above.top * this.width.below, above.below * this.width.top];
    if (top < 0n || top > below) throw new Invalid("value must lie between low and high of the campaign; clip it first");
    return { top: top * this.steps, below };
  }
}

/** A label of each of several attributes; an answer is an object that says all of them by name. */
class Attributes {
  constructor(record) {
    const list = record.attributes;
    if (!hasKeys(record, ["attributes", "kind"]) || !Array.isArray(list)) {
      throw new Invalid("this is not a domain of attributes", "malformed");
    }
    if (list.length < 2 || list.length > 256) throw new Invalid("there must be 2 to 256 attributes");
    this.attributes = list.map((each) => {
      if (!isRecord(each) || !hasKeys(each, ["answers", "name", "protocol"]) || !isText(each.name, 1, MOST_LETTERS)) {
        throw new Invalid("this is not an attribute", "malformed");
      }
      return { name: each.name, domain: choicesOf(each.answers), protocol: each.protocol };
    });
    this.names = this.attributes.map(({ name }) => name);
    if (new Set(this.names).size < list.length) throw new Invalid("attributes must have names that differ");
    if (this.attributes.reduce((sum, { domain }) => sum + domain.k, 0) > MOST_CELLS / 2) {
      throw new Invalid("attributes must have at most 2^19 cells in all");
    }
  }

  encoded(value) {
    if (!isRecord(value) || !hasKeys(value, this.names)) throw new Invalid("value must give an answer for each attribute by its name");
    return this.attributes.map(({ name, domain }) => domain.encoded(value[name]));
  }
}

/** A word of shortest to length letters of an alphabet; where these differ symbol 0 pads behind the last letter. */
class Words {
  constructor(record) {
    const { alphabet, length, shortest, levels, salt } = record;
    if (!hasKeys(record, ["alphabet", "kind", "length", "levels", "salt", "shortest"]) || !Array.isArray(levels)) {
      throw new Invalid("this is not a domain of words", "malformed");
    }
    if (!isText(alphabet, 2, 65_535) || /\0|\p{Surrogate}/u.test(alphabet)) {
      throw new Invalid("alphabet must be a text of 2 to 65535 letters, without null letters and surrogates");
    }
    const letters = [...alphabet];
    if (![length, shortest].every((each) => Number.isSafeInteger(each) && each >= 1 && each <= 256) || shortest > length) {
      throw new Invalid("length must be from shortest to 256");
    }
    if (!isText(salt, 32, 32) || !/^[0-9a-f]*$/.test(salt)) throw new Invalid("salt must be 16 bytes", "malformed");
    const pads = Number(shortest < length);
    Object.assign(this, { length, shortest, salt: bytesOf(salt), base: BigInt(letters.length + pads) });
    this.symbols = new Map(letters.map((letter, place) => [letter, place + pads]));
    if (this.symbols.size < letters.length) throw new Invalid("alphabet must have letters that differ");
    this.levels = levels.map((each) => new Level(each, this.base));
    this.check();
  }

  /** Whether words can be searched by these levels: the same questions as in `checked_levels` of discreet/local/prefix_levels.py. */
  check() {
    const [ends, cells] = [this.levels.map(({ letters }) => letters), this.levels.reduce((sum, each) => sum + each.cells, 0)];
    const steps = ends.map((end, place) => end - (place ? ends[place - 1] : 0));
    if (steps.some((step) => step < 1) || ends.at(-1) !== this.length) throw unsound("letters");
    if (cells > MOST_TABLE) throw unsound("cells");
    if (!this.levels[0].exact || this.levels[0].columns > MOST_CELLS) throw unsound("columns");
    if (steps.slice(1).some((step) => this.base ** BigInt(step) > 1n << 17n)) throw unsound("ways to go on");
    if (this.levels.some(({ exact, rows, columns }) => (exact ? rows > 1 : columns > 1 << 16))) throw unsound("rows or columns");
  }

  encoded(value) {
    const found = isText(value, this.shortest, this.length) ? Array.from(value, (letter) => this.symbols.get(letter)) : [undefined];
    if (found.includes(undefined)) throw new Invalid("value must be a text of as many letters of the declared alphabet as are allowed");
    return [...found, ...Array(this.length - found.length).fill(0)];
  }
}

/** The first letters of a word, in a table of rows by columns; it is exact where every prefix has a column of its own. */
class Level {
  constructor(record, base) {
    const keys = ["columns", "letters", "rows"];
    if (!isRecord(record) || !hasKeys(record, keys)) throw new Invalid("this is not a level of prefixes", "malformed");
    if (!keys.every((key) => Number.isSafeInteger(record[key]) && record[key] >= 1)) throw unsound("numbers");
    const { columns, letters, rows } = record;
    if (columns < 2 || columns > MOST_TABLE || columns & (columns - 1) || rows * columns > MOST_TABLE) throw unsound("columns");
    const exact = letters <= 23 && base ** BigInt(letters) <= BigInt(columns);
    Object.assign(this, { columns, letters, rows, exact, cells: rows * columns });
  }
}

function unsound(what) {
  return new Invalid(`words cannot be searched by levels with these ${what}`);
}

const DOMAINS = { attributes: Attributes, numbers: Numbers, words: Words };

function choicesOf(value) {
  if (isRecord(value)) throw new Invalid("domain must be 2 to 2^20 labels, or their number");
  return new Choices(value);
}

function domainOf(value) {
  if (!isRecord(value)) return new Choices(value);
  if (!isText(value.kind, 1, 100) || !Object.hasOwn(DOMAINS, value.kind)) {
    throw new Invalid("this is not a domain, or one of a kind that is not known here", "malformed");
  }
  return new DOMAINS[value.kind](value);
}

// ----------------------------------------------------------------------------------------------------------------- protocols
// Each has `randomise`, whose result is the report as integers, and `pack`, which makes bytes of it. What is drawn in which order matters
// to tests alone. `chances` are its coins.

function checkedChoices(domain, name) {
  if (!(domain instanceof Choices)) throw new Invalid(`${name} is for a choice among declared answers`);
  return BigInt(domain.k);
}

/** The own cell with probability e^ε/(e^ε + k − 1), else any other one. */
class KaryResponse {
  code = 1;

  constructor(domain, epsilon) {
    this.k = checkedChoices(domain, "k-ary");
    this.chances = { truth: truthDown(epsilon, this.k) };
  }

  randomise(cell, coins) {
    return [coins.keepOrReplace(cell, this.k, this.chances.truth)];
  }

  get size() {
    return bytesFor(this.k);
  }

  pack([told]) {
    return little(told, this.size);
  }
}

/** A bit for each cell: that of the own cell is 1 with probability 1/2, each other with 1/(e^ε + 1), independently. */
class UnaryEncoding {
  code = 2;

  constructor(domain, epsilon) {
    this.k = checkedChoices(domain, "unary");
    this.chances = { own: ONE >> 1n, other: ONE - truthDown(epsilon, 2n) };
  }

  randomise(cell, coins) {
    return Array.from({ length: Number(this.k) }, (_, each) =>
      BigInt(coins.heads(BigInt(each) === cell ? this.chances.own : this.chances.other)),
    );
  }

  get size() {
    return Number((this.k + 7n) / 8n);
  }

  pack(bits) {
    const bytes = new Uint8Array(this.size);
    bits.forEach((bit, each) => (bytes[each >> 3] |= Number(bit) << (each & 7)));
    return bytes;
  }
}

/** A uniform seed (a, b), and by randomised response the bucket of the own cell under its hash function: h g / 2^32, where h is the upper half of (a x + b) mod 2^64. */
class LocalHashing {
  code = 3;

  constructor(domain, epsilon) {
    this.k = checkedChoices(domain, "hashing");
    this.buckets = bestBuckets(epsilon);
    this.chances = { truth: truthDown(epsilon, this.buckets) };
  }

  bucket(a, b, cell) {
    return (((a * cell + b) & (ONE - 1n)) >> 32n) * this.buckets >> 32n;
  }

  randomise(cell, coins) {
    const [a, b] = [coins.word(), coins.word()];
    return [a, b, coins.keepOrReplace(this.bucket(a, b, cell), this.buckets, this.chances.truth)];
  }

  get size() {
    return 16 + bytesFor(this.buckets);
  }

  pack([a, b, bucket]) {
    return joined(little(a, 8), little(b, 8), little(bucket, bytesFor(this.buckets)));
  }
}

/** A uniform coefficient j of 2^m >= k, and by randomised response the parity of j & x: the integer 2j + bit. */
class HadamardResponse {
  code = 4;

  constructor(domain, epsilon) {
    this.k = checkedChoices(domain, "hadamard");
    this.width = 1n << BigInt(bitLength(this.k - 1n));
    this.chances = { truth: truthDown(epsilon, 2n) };
  }

  randomise(cell, coins) {
    const place = coins.below(this.width);
    return [2n * place + coins.keepOrReplace(parity(place & cell), 2n, this.chances.truth)];
  }

  get size() {
    return bytesFor(2n * this.width);
  }

  pack([told]) {
    return little(told, this.size);
  }
}

const FREQUENCY = { "k-ary": KaryResponse, unary: UnaryEncoding, hashing: LocalHashing, hadamard: HadamardResponse };

/** What protocols for numbers share: a place on the grid, and one of so many codes as a report. */
class NumberProtocol {
  constructor(domain, name) {
    if (!(domain instanceof Numbers)) throw new Invalid(`${name} is for numbers`);
    this.steps = domain.steps;
  }

  get size() {
    return bytesFor(this.codes);
  }

  pack([told]) {
    return little(told, this.size);
  }
}

/** One of the two places next to a number, such that the expectation is the number. */
function rounded({ top, below }, coins) {
  return top / below + BigInt(coins.ratio(top % below, below));
}

/** An end of the range, of which the chance is linear in the number, told the truth of with e^ε/(e^ε + 1). */
class MeanResponse extends NumberProtocol {
  code = 5;
  codes = 2n;

  constructor(domain, epsilon) {
    super(domain, "mean-response");
    this.chances = { truth: truthDown(epsilon, 2n) };
  }

  at(place, coins) {
    return coins.keepOrReplace(BigInt(coins.below(this.steps) < place), 2n, this.chances.truth);
  }

  randomise(number, coins) {
    return [this.at(rounded(number, coins), coins)];
  }
}

/**
 * One of places + width − 1 codes: one in the window place … place + width − 1 with probability inside/2^64, at most w e^ε/(w e^ε + places − 1),
 * else one outside. `inside` is off by less than two units: what e^(−ε) is rounded up by, two units of 2^−128, moves it by less than one.
 */
class ReportWindow {
  constructor(places, width, epsilon) {
    const [, above] = expNegBounds(epsilon, 128);
    Object.assign(this, { places, width, codes: places + width - 1n });
    this.inside = (width << 192n) / ((width << 128n) + (places - 1n) * above);
  }

  at(place, coins) {
    const near = place + coins.below(this.width);
    const far = coins.below(this.places - 1n);
    return coins.heads(this.inside) ? near : far + (far >= place ? this.width : 0n);
  }
}

/** A window of codes that moves with the number, near steps · e^(−ε/2) wide. */
class PiecewiseMean extends NumberProtocol {
  code = 6;

  constructor(domain, epsilon) {
    super(domain, "piecewise");
    const width = (halved(epsilon)[0] * this.steps + (ONE >> 1n)) >> DIGITS;
    this.window = new ReportWindow(this.steps + 1n, width > 1n ? width : 1n, epsilon);
    this.codes = this.window.codes;
    this.chances = { inside: this.window.inside };
  }

  randomise(number, coins) {
    return [this.window.at(rounded(number, coins), coins)];
  }
}

/** Codes of windows, from 2 on, with probability 1 − e^(−ε/2) where ε is above 0.61; codes 0 and 1 of the other protocol otherwise. */
class HybridMean extends NumberProtocol {
  code = 7;

  constructor(domain, epsilon) {
    super(domain, "hybrid");
    this.bit = new MeanResponse(domain, epsilon);
    this.window = new PiecewiseMean(domain, epsilon).window;
    const share = 100n * epsilon.top > 61n * epsilon.below ? ONE - halved(epsilon)[0] : 0n;
    this.chances = { share, ...this.bit.chances, inside: this.window.inside };
    this.codes = 2n + (share ? this.window.codes : 0n);
  }

  randomise(number, coins) {
    const place = rounded(number, coins);
    const [one, other] = [this.bit.at(place, coins), this.window.at(place, coins) + 2n];
    return [coins.heads(this.chances.share) ? other : one];
  }
}

/** A window of codes that moves with the cell of the number, which it lies in or, at the upper end, below. */
class SquareWave extends NumberProtocol {
  code = 8;

  constructor(domain, epsilon) {
    super(domain, "square-wave");
    if (this.steps < 2n) throw new Invalid("steps must be at least 2 for square-wave");
    this.window = new ReportWindow(this.steps, bestWidth(epsilon, this.steps), epsilon);
    this.codes = this.window.codes;
    this.chances = { inside: this.window.inside };
  }

  randomise({ top, below }, coins) {
    const cell = top / below;
    return [this.window.at(cell < this.steps ? cell : this.steps - 1n, coins)];
  }
}

/** cells · (εe − e + 1)/(e (e − 1 − ε)), rounded, with a lower bound e of e^ε: `best_width` of discreet/local/square_wave.py. */
function bestWidth(epsilon, cells) {
  const [one, [, above]] = [1n << 256n, expNegBounds(epsilon, 256)];
  const { top, below } = epsilon; // e = one/above; all parts of the ratio are multiplied by above² · below
  const told = (top * one - below * one + below * above) * above;
  const all = one * (one * below - (below + top) * above);
  const width = (2n * told * cells + all) / (2n * all);
  return width > 1n ? width : 1n;
}

function halved({ top, below }) {
  return expNegBounds({ top, below: 2n * below }, 64);
}

/** What protocols for several attributes share: each attribute has a protocol of its own, at the whole ε. */
class AttributesProtocol {
  constructor(domain, epsilon, name) {
    if (!(domain instanceof Attributes)) throw new Invalid(`${name} is for several attributes`);
    this.parts = domain.attributes.map(({ domain: choices, protocol }) => {
      if (!isText(protocol, 1, 100) || !Object.hasOwn(FREQUENCY, protocol)) {
        throw new Invalid(`the protocol of an attribute must be one of ${Object.keys(FREQUENCY).join(", ")}`);
      }
      return new FREQUENCY[protocol](choices, epsilon);
    });
    this.chances = Object.fromEntries(
      this.parts.flatMap(({ chances }, place) => Object.entries(chances).map(([coin, chance]) => [`${place} ${coin}`, chance])),
    );
    this.drawn = BigInt(this.parts.length);
  }
}

/** A uniform attribute, and the report of the own cell of it; zeros up to the longest report, so that its length tells nothing. */
class OneAttribute extends AttributesProtocol {
  code = 9;

  constructor(domain, epsilon) {
    super(domain, epsilon, "one-attribute");
    this.size = 1 + Math.max(...this.parts.map(({ size }) => size));
  }

  randomise(cells, coins) {
    const place = Number(coins.below(this.drawn));
    return [place, this.parts[place].randomise(cells[place], coins)];
  }

  pack([place, told]) {
    const bytes = new Uint8Array(this.size);
    bytes.set(joined([place], this.parts[place].pack(told)));
    return bytes;
  }
}

/** The report of a uniform attribute, and of fake, uniform cells of all others, so that it is not said which one it is. */
class HiddenAttribute extends AttributesProtocol {
  code = 10;

  constructor(domain, epsilon) {
    super(domain, epsilon, "hidden-attribute");
    this.size = this.parts.reduce((sum, { size }) => sum + size, 0);
  }

  randomise(cells, coins) {
    const sampled = Number(coins.below(this.drawn));
    return this.parts.map((part, place) => {
      const fake = coins.below(part.k);
      return part.randomise(place === sampled ? cells[place] : fake, coins);
    });
  }

  pack(reports) {
    return joined(...this.parts.map((part, place) => part.pack(reports[place])));
  }
}

/**
 * A uniform level, row and coefficient j of its table, and by randomised response the parity of j & column, where the column is that of the
 * first letters of the word: the integer 2·cell + bit. See discreet/local/prefix_hashing.py for the hash functions.
 */
class PrefixResponse {
  code = 11;

  constructor(domain, epsilon) {
    if (!(domain instanceof Words)) throw new Invalid("prefixes is for words over an alphabet");
    this.words = domain;
    this.codes = 2n * BigInt(domain.levels.reduce((sum, { cells }) => sum + cells, 0));
    this.chances = { truth: truthDown(epsilon, 2n) };
  }

  get size() {
    return bytesFor(this.codes);
  }

  async column(place, row, symbols) {
    const { letters, columns, exact } = this.words.levels[place];
    const prefix = symbols.slice(0, letters).map(BigInt);
    if (exact) return prefix.reduce((column, symbol) => column * this.words.base + symbol, 0n);
    const head = joined(new TextEncoder().encode("discreet.local.prefixes"), this.words.salt, little(BigInt(place), 4), little(row, 4));
    const blocks = Array.from({ length: Math.ceil((letters + 1) / 8) }, (_, block) => sha256(joined(head, little(BigInt(block), 4))));
    const stream = joined(...(await Promise.all(blocks)));
    const factors = Array.from({ length: letters + 1 }, (_, each) => numberOf(stream.subarray(4 * each, 4 * each + 4)));
    const sum = prefix.reduce((total, symbol, letter) => total + factors[letter + 1] * symbol, factors[0]);
    return (sum & 0xffffffffn) >> BigInt(33 - bitLength(BigInt(columns)));
  }

  async randomise(symbols, coins) {
    const place = Number(coins.below(BigInt(this.words.levels.length)));
    const { cells, columns } = this.words.levels[place];
    const [first, cell] = [this.words.levels.slice(0, place).reduce((sum, each) => sum + each.cells, 0), coins.below(BigInt(cells))];
    const [row, coefficient] = [cell / BigInt(columns), cell % BigInt(columns)];
    const sign = parity(coefficient & (await this.column(place, row, symbols)));
    return [2n * (BigInt(first) + cell) + coins.keepOrReplace(sign, 2n, this.chances.truth)];
  }

  pack([told]) {
    return little(told, this.size);
  }
}

const PROTOCOLS = {
  ...FREQUENCY,
  "mean-response": MeanResponse,
  piecewise: PiecewiseMean,
  hybrid: HybridMean,
  "square-wave": SquareWave,
  "one-attribute": OneAttribute,
  "hidden-attribute": HiddenAttribute,
  prefixes: PrefixResponse,
};

// --------------------------------------------------------------------------------------------------------------- text and bytes

/** The one text of a value: keys sorted, no spaces, ASCII alone. */
function written(value) {
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value).replace(/[\x7f-\uffff]/g, escaped);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${written(name)}:${written(value[name])}`).join(",")}}`;
}

function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The fields of a record of this kind; Invalid for any other text. */
function recordOf(text, kind, keys) {
  if (typeof text !== "string" || text.length > MOST_TEXT) throw malformed(kind);
  let fields, again;
  try {
    fields = JSON.parse(text);
    again = written(fields);
  } catch {
    throw malformed(kind);
  }
  if (!isRecord(fields) || fields.format !== `discreet.local.${kind}`) throw malformed(kind);
  if (fields.version !== 1) throw new Invalid(`this ${kind} has another version`, "version");
  if (again !== text || !hasKeys(fields, ["format", "version", ...keys])) {
    throw malformed(kind, again === text.trim() ? " and without white space around it" : "");
  }
  return fields;
}

function malformed(kind, how = "") {
  return new Invalid(`this is not a ${kind}; pass the text of a ${kind}, unchanged${how}`, "malformed");
}

/** The ratio that a text spells as one integer or two, in lowest terms. */
function ratioOf(value, name) {
  const found = isText(value, 1, 802) ? /^(-?[0-9]{1,400})(?:\/([0-9]{1,400}))?$/.exec(value) : null;
  if (!found) throw new Invalid(`${name} must be a ratio of two integers, as text`, "malformed");
  const [top, below] = [BigInt(found[1]), BigInt(found[2] ?? 1)];
  const again = below > 1n ? `${top}/${below}` : `${top}`;
  if (below === 0n || again !== value || commonDivisor(top, below) !== 1n) {
    throw new Invalid(`${name} must be a ratio in lowest terms`, "malformed");
  }
  return { top, below };
}

/** The exact value of a number, taken as the decimal that it prints, which is the shortest one that means it; or of a bigint. */
function decimalOf(value) {
  if (typeof value === "bigint") return { top: value, below: 1n };
  const found = typeof value === "number" ? /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(value)) : null;
  if (!found) throw new Invalid("value must be a finite number");
  const [, sign, before, after = "", exponent = "0"] = found;
  const [digits, shift] = [BigInt(sign + before + after), BigInt(exponent) - BigInt(after.length)];
  return shift < 0n ? { top: digits, below: 10n ** -shift } : { top: digits * 10n ** shift, below: 1n };
}

function minus(one, other) {
  return { top: one.top * other.below - other.top * one.below, below: one.below * other.below };
}

function commonDivisor(top, below) {
  let [a, b] = [top < 0n ? -top : top, below];
  while (b) [a, b] = [b, a % b];
  return a;
}

function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasKeys(value, keys) {
  return Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
}

/** Whether a value is a text of so many letters; one of two units counts once. */
function isText(value, least, most) {
  if (typeof value !== "string" || value.length > 2 * most) return false;
  const letters = [...value].length;
  return least <= letters && letters <= most;
}

function isLabel(value) {
  return typeof value === "boolean" || Number.isSafeInteger(value) || isText(value, 0, MOST_LETTERS);
}

function bitLength(value) {
  return value === 0n ? 0 : value.toString(2).length;
}

function bytesFor(codes) {
  return (bitLength(codes - 1n) + 7) >> 3;
}

function shiftUp(value, bits) {
  return -(-value >> bits);
}

function parity(value) {
  return BigInt(value.toString(2).replaceAll("0", "").length & 1);
}

/** The bytes of an integer, the least first. */
function little(value, size) {
  const bytes = new Uint8Array(size);
  for (let each = 0, rest = value; each < size; each++, rest >>= 8n) bytes[each] = Number(rest & 255n);
  return bytes;
}

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** The integer that bytes are, the least first. */
function numberOf(bytes) {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function bytesOf(digits) {
  return Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
}
