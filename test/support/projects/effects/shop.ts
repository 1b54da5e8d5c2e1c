/** A shop that charges and sends mails, each once. RECEIVER is where it does. */

import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'

type Work = (means: { readonly key: string; readonly signal: AbortSignal }) => unknown
type Effect = (name: string, input: unknown, work: Work) => Promise<unknown>

const effect: Effect = (globalThis as unknown as Record<symbol, Effect>)[
  Symbol.for('heddle.effect')
] ?? ((_name, _input, work) =>
  Promise.resolve(work({ key: '', signal: new AbortController().signal })))

const State = Annotation.Root({ order: Annotation<string>, paid: Annotation<unknown>,
  sent: Annotation<unknown>, said: Annotation<unknown> })

/** Sends an order to the receiver. Throws if it does not answer with 200. */
async function send(path: string, order: string, key = ''): Promise<unknown> {
  const answer = await fetch(`${process.env['RECEIVER']}${path}`, { method: 'POST',
    headers: { 'idempotency-key': key }, body: JSON.stringify({ order }) })
  if (!answer.ok) throw new Error(`The receiver answered ${answer.status}.`)
  return await answer.json()
}

const charge = (order: string) =>
  effect('charge', { order }, ({ key }) => send('charge', order, key))

/** Charges after a first step. */
export const shop = new StateGraph(State)
  .addNode('look', () => ({}))
  .addNode('pay', async ({ order }) => ({ paid: await charge(order) }))
  .addEdge(START, 'look').addEdge('look', 'pay').compile()

/** The same without an effect. */
export const bare = new StateGraph(State)
  .addNode('look', () => ({}))
  .addNode('pay', async ({ order }) => ({ paid: await send('bare', order) }))
  .addEdge(START, 'look').addEdge('look', 'pay').compile()

/** The same with an answer that is kept. */
export const drafting = new StateGraph(State)
  .addNode('look', () => ({}))
  .addNode('pay', async ({ order }) => ({
    paid: await effect('model', { order }, () => send('model', order)),
  }))
  .addEdge(START, 'look').addEdge('look', 'pay').compile()

/** Asks a model, charges, and then asks a person, in one node. */
export const asking = new StateGraph(State)
  .addNode('pay', async ({ order }) => {
    await effect('model', { order }, () => send('model', order))
    return { paid: await charge(order), said: interrupt('Was it good?') }
  })
  .addEdge(START, 'pay').compile()

/** Sends a mail. */
export const mailing = new StateGraph(State)
  .addNode('mail', async ({ order }) => ({
    sent: await effect('mail', { order }, () => send('mail', order)),
  }))
  .addEdge(START, 'mail').compile()

/** Makes plain calls, of which two match a rule, and then asks a person. */
export const calling = new StateGraph(State)
  .addNode('call', async () => {
    const post = async (path: string) =>
      (await fetch(`http://127.0.0.1:8471${path}`, { method: 'POST', body: '{"a":1}' })).text()
    const paid = [await post('/model/large'), await post('/charge'), await post('/other')]
    return { paid, said: interrupt('Was it good?') }
  })
  .addEdge(START, 'call').compile()

/** Sends a mail by a plain call, twice if the first one fails, and goes on without it. */
export const posting = new StateGraph(State)
  .addNode('mail', async ({ order }) => {
    const post = async () =>
      (await fetch('http://127.0.0.1:8472/mail', { method: 'POST',
        body: JSON.stringify({ order }) })).text()
    return { sent: await post().catch(post).catch(() => 'by another way') }
  })
  .addEdge(START, 'mail').compile()
