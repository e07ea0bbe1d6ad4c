// Runs the script that tests hand over: what is to be done comes as JSON, and what came out goes as JSON. Errors go by their codes.

import { readFileSync } from "node:fs";

const { source, calls } = JSON.parse(readFileSync(0, "utf8"));
const { Campaign, Client, truthDown } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

const hex = (bytes) => Buffer.from(bytes).toString("hex");
const ratio = (text) => {
  const [top, below = "1"] = text.split("/");
  return { top: BigInt(top), below: BigInt(below) };
};

function played(tape) {
  const words = tape.split(" ");
  return { left: () => words.length, words: () => BigInt(`0x${words.shift()}`) };
}

const doing = {
  // A campaign's identity, the code and the coins of its protocol.
  async terms({ text }) {
    const { id, randomiser } = await Campaign.read(text);
    const coins = Object.entries(randomiser.chances).map(([name, chance]) => [name, String(chance)]);
    return { id, code: randomiser.code, size: randomiser.size, coins: Object.fromEntries(coins) };
  },
  async notice({ text }) {
    return (await Campaign.read(text)).notice;
  },
  // Which of many texts are campaigns: their identities, or the codes of errors.
  async reading({ texts }) {
    return Promise.all(texts.map((text) => Campaign.read(text).then(({ id }) => id, named)));
  },
  truths({ pairs }) {
    return pairs.map(([epsilon, k]) => String(truthDown(ratio(epsilon), BigInt(k))));
  },
  // A report made of a tape, which has to be used up.
  async report({ text, answer, tape, token, now, big }) {
    const { left, words } = tape === undefined ? {} : played(tape);
    const options = { ...(words && { words }), ...(now === undefined ? {} : { clock: () => now }) };
    const client = new Client(await Campaign.read(text), options);
    const ticket = token === undefined ? null : Uint8Array.from(Buffer.from(token, "hex"));
    const { bytes, json } = await client.report(big ? BigInt(answer) : answer, ticket);
    return { bytes: hex(bytes), json, left: left?.() ?? 0 };
  },
  // What a client makes of one answer again and again, by fresh secure words: how often each packed answer came out.
  async answers({ text, answer, count }) {
    const campaign = await Campaign.read(text);
    const told = {};
    for (let each = 0; each < count; each++) {
      const { bytes } = await new Client(campaign).report(answer);
      const packed = hex(bytes.subarray(34));
      told[packed] = (told[packed] ?? 0) + 1;
    }
    return told;
  },
  // Whole reports of one answer.
  async many({ text, answer, count }) {
    const campaign = await Campaign.read(text);
    const client = () => new Client(campaign).report(answer);
    return Promise.all(Array.from({ length: count }, async () => hex((await client()).bytes)));
  },
  // What two calls at once get, and a third with another answer.
  async again({ text, answers }) {
    const client = new Client(await Campaign.read(text));
    const both = await Promise.all([client.report(answers[0]), client.report(answers[1])]);
    return [...both, await client.report(answers[2])].map(({ bytes }) => hex(bytes));
  },
};

function named(error) {
  return `${error.name} ${error.code}`;
}

const results = [];
for (const { call, ...rest } of calls) {
  try {
    results.push(await doing[call](rest));
  } catch (error) {
    if (error.code === undefined || !["Invalid", "Refused"].includes(error.name)) throw error;
    results.push({ error: named(error), message: error.message });
  }
}
process.stdout.write(JSON.stringify(results));
