/** The graphs of the tests of replays: each differs in one thing between two revisions. */

/** Names of the graphs. */
export const graphNames = ['same', 'word', 'renamed', 'branch', 'less', 'fixed', 'broken', 'opens',
  'database', 'remembers', 'random', 'large', 'reveals', 'loops', 'sleeps', 'asks'] as const

/** A name among them. */
export type GraphName = (typeof graphNames)[number]

/** The project, as its first revision or as the next one. */
export function agentsCode(isNext: boolean): string {
  return `import { connect } from 'node:net'
import { get } from 'node:http'
import { randomUUID } from 'node:crypto'
import { Annotation, StateGraph, getStore, interrupt } from '@langchain/langgraph'

const next = ${isNext}
const State = Annotation.Root({ url: Annotation, asked: Annotation, plan: Annotation,
  found: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }), answer: Annotation })

/** A streamed model, with ids and times in its prompt. */
async function model(url, prompt, text) {
  const answer = await fetch(url + '/v1/chat/completions', { method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.MODEL_KEY },
    body: JSON.stringify({ model: 'small', stream: true, user: process.env.MODEL_KEY, messages: [
      { role: 'system', content: prompt + ' Request ' + randomUUID() + ' at '
        + new Date().toISOString() + ', ' + Date.now() + ', ' + new Date().getFullYear() },
      { role: 'user', content: text }] }) })
  let said = ''
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    for (const [, json] of piece.matchAll(/^data: (\\{.*\\})$/gm)) {
      said += JSON.parse(json).choices[0]?.delta?.content ?? ''
    }
  }
  return said
}

const text = (url) => new Promise((resolve, reject) => get(url, (answer) => {
  let all = ''
  answer.on('data', (chunk) => all += chunk)
  answer.on('end', () => resolve(all))
}).on('error', reject))

const opened = (url) => new Promise((resolve, reject) => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
    socket.destroy()
    resolve()
  }).on('error', reject)
})

/** An agent with two tools beside each other, which use both doors. */
function made({ prompt = 'Answer in short.', weather = 'weather', skips = false, more = false,
  begins = async () => {}, ends = () => ({}) } = {}) {
  const graph = new StateGraph(State)
    .addNode('plan_it', async ({ url, asked }) => ({ plan: await model(url, prompt,
      'Plan: ' + asked) }))
    .addNode(weather, async ({ url, asked }) => {
      if (skips) return { found: ['weather'] }
      const answer = await fetch(url + '/weather', { method: 'POST',
        body: JSON.stringify({ id: randomUUID(), at: Date.now(), asked }) })
      return { found: [answer.ok ? 'weather' : 'none'] }
    })
    .addNode('news', async ({ url, asked }) => ({
      found: ['news ' + (await text(url + '/news?q=' + encodeURIComponent(asked))).length] }))
    .addNode('finish', async ({ url, plan, found, asked }) => {
      await begins(url)
      const answer = await model(url, prompt, plan + [...found].sort().join() + asked)
      return { answer, ...ends() }
    })
    .addEdge('__start__', 'plan_it').addEdge('plan_it', weather).addEdge('plan_it', 'news')
    .addEdge(weather, 'finish').addEdge('news', 'finish')
  if (more) {
    graph.addNode('more', async ({ url, asked }) => {
      await fetch(url + '/more', { method: 'POST', body: asked })
      return {}
    }).addEdge('plan_it', 'more')
  }
  return graph.compile()
}

const fails = (does) => async () => {
  if (does) throw new TypeError('There is no answer.')
}

export const same = made()
export const word = made({ prompt: next ? 'Answer in detail.' : 'Answer in short.' })
export const renamed = made({ weather: next ? 'outlook' : 'weather' })
export const branch = made({ more: next })
export const less = made({ skips: next })
export const fixed = made({ begins: fails(!next) })
export const broken = made({ begins: fails(next) })
export const opens = made({ begins: async (url) => next && opened(url) })
export const database = made({ begins: opened })
export const remembers = made({ begins: async () => getStore().put(['a'], 'b', { c: 1 }) })
export const random = made({ prompt: 'Answer ' + Math.random() })
export const large = made({ begins: async (url) => {
  const body = JSON.stringify({ text: 'x'.repeat(1_100_000) })
  await fetch(url + '/large', { method: 'POST', body })
} })
export const reveals = made({ ends: () => ({ plan: next ? process.env.MODEL_KEY : '' }) })
export const loops = made({ begins: async () => {
  while (next);
} })
export const sleeps = made({
  begins: async () => next && new Promise((wake) => setTimeout(wake, 1e8)) })
export const asks = new StateGraph(State)
  .addNode('offer', async ({ url, asked }) => {
    const plan = await model(url, 'Offer.', asked)
    return { plan, answer: interrupt({ plan }) }
  })
  .addNode('finish', async ({ url, plan, answer }) => ({
    found: [await model(url, next ? 'End it.' : 'Finish.', plan + answer)] }))
  .addEdge('__start__', 'offer').addEdge('offer', 'finish').compile()
`
}
