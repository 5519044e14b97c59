// A bot that plays a legal card picked by chance; it knows the wire protocol and little of the rules.
//
// Copy it and rewrite choose(). Run it with `node random_bot.js`; it reads asks from stdin and answers on
// stdout. It needs no package.
"use strict";

/** A small generator (mulberry32): the same seed gives the same match again, which Math.random() cannot. */
function makeChance(seed) {
  let state = seed >>> 0;
  return function below(n) {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * n);
  };
}

/** Pick a card, not a line: a wild is listed once for each colour and must not be four times as likely. */
function choose(ask, below) {
  const pick = (list) => list[below(list.length)];
  const plays = ask.legal.filter((line) => line.startsWith("play "));
  const cards = [...new Set(plays.map((line) => line.split(" ")[1]))];
  if (cards.length > 0) {
    const card = pick(cards);
    return callUno(pick(plays.filter((line) => line.split(" ")[1] === card)), ask.state.hand);
  }
  if (ask.legal.includes("catch")) return "catch";
  return pick(ask.legal); // a colour, a target, challenge or accept; "draw" when there is nothing else
}

/** Add the call when exactly one card stays in the hand. Nobody reminds us of it. */
function callUno(play, hand) {
  const card = play.split(" ")[1];
  // Discard All (RA, GA, ...) throws every card of its colour at once; any other play takes one card.
  const discardsAll = /^[RGBY]A$/.test(card);
  const thrown = discardsAll ? hand.filter((other) => other[0] === card[0]).length : 1;
  return hand.length - thrown === 1 ? play + " uno" : play;
}

function send(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

let below = makeChance(0);

/** Answer what is asked and ignore every type and field that we do not know. */
function handle(message) {
  if (message.type === "hello") {
    send({ type: "hello", protocol: 1, name: "random-js", version: "1.0" });
  } else if (message.type === "start") {
    below = makeChance(message.bot_seed ?? 0); // one process plays many matches; each brings its own seed
  } else if (message.type === "ask") {
    send({ type: "act", id: message.id, action: choose(message, below) });
  } else if (message.type === "bye") {
    process.stdin.destroy(); // nothing else keeps the process alive
  }
}

// Input comes in pieces that need not end where a line ends. (The readline module would also split a line
// at U+2028, which JSON allows inside a string.)
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  const lines = (rest + piece).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    if (line.trim() !== "") handle(JSON.parse(line));
  }
});
