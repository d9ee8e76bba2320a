// Asks a running server by the AI SDK, unmodified; prints one JSON object.
// node decide.mjs BASE_URL KEY MODEL…; packages are looked up in NODE_CLIENTS.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [base, key, ...models] = process.argv.slice(2);
const require = createRequire(join(process.env.NODE_CLIENTS, 'package.json'));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { experimental_decide: decide } = await load('ai');
const { createOpenAI } = await load('@ai-sdk/openai');
const { createTypeSafeAi } = await load('@ai-sdk/typesafe-ai');

const state = 'Refund me or I call my bank.';
const questions = {
  angry: { type: 'boolean', instructions: 'Is the writer angry?' },
  team: {
    type: 'choice',
    instructions: 'Who takes it?',
    criteria: { billing: 'Money matters', tech: 'Defects', other: 'Anything else' },
  },
  risk: { type: 'score', instructions: 'How likely will they leave?', criteria: ['none', 'some', 'high'] },
};

const told = async (work) => {
  try {
    return await work();
  } catch (error) {
    return { error: error.name, status: error.statusCode ?? null, questions: error.questionIds ?? null };
  }
};

const openai = createOpenAI({ baseURL: `${base}/v1`, apiKey: key });
const typesafe = createTypeSafeAi({ baseURL: `${base}/v1`, apiKey: key });
const asked = async (model) => ({
  openai: await told(async () => {
    const { answers } = await decide({ model: openai.decisionModel(model), state, questions, maxRetries: 0 });
    return { answers };
  }),
  typesafe: await told(async () => {
    const { answers } = await decide({ model: typesafe.evaluationModel(model), state, questions, maxRetries: 0 });
    return { answers };
  }),
});
const out = {};
for (const model of models) out[model] = await asked(model);
console.log(JSON.stringify(out));
