/** Errands in the functional API: effects in entrypoints, in tasks, and in graphs around them. */

import { Annotation, entrypoint, interrupt, START, StateGraph, task } from '@langchain/langgraph'

type Work = (means: { readonly key: string }) => unknown
type Effect = (name: string, input: unknown, work: Work) => Promise<unknown>

const effect = (globalThis as unknown as Record<symbol, Effect>)[Symbol.for('heddle.effect')]!

/** Makes a plain call to the receiver, which matches a rule unless the path is another one. */
async function call(path: string, what: string, key = ''): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:8473/${path}`, { method: 'POST',
    headers: { 'idempotency-key': key }, body: JSON.stringify({ what }) })
  if (!answer.ok) throw new Error(`The receiver answered ${answer.status}.`)
  return answer.text()
}

/** An effect of the code: its calls match no rule. */
const charge = (what: string) =>
  effect('charge', { what }, ({ key }) => call('coded', what, key)) as Promise<string>

/** An effect of the code, and two calls. */
const pay = task('pay', async (what: string) => [
  await charge(what),
  await call('charge', what),
  await call('model', what),
])

/** The same around another task. */
const both = task('both', async (what: string) => [
  await charge(`${what} outer`),
  ...await pay(`${what} inner`),
])

/** Asks a person after its effects. */
const confirm = task('confirm', async (what: string) => {
  const paid = [await charge(what), await call('charge', what), await call('model', what)]
  return [...paid, interrupt<string, string>('Was it good?')]
})

async function run(what: string) {
  const direct = [await charge(`${what} direct`), await call('charge', `${what} direct`),
    await call('model', `${what} direct`)]
  const parallel = await Promise.all([pay(`${what} a`), pay(`${what} b`)])
  return {
    paid: [...direct, ...parallel.flat(), ...await both(what), ...await confirm(`${what} asking`)],
  }
}

interface Order {
  readonly order: string
}

const State = Annotation.Root({ order: Annotation<string>, paid: Annotation<unknown>,
  sent: Annotation<unknown> })

/** Pays in all ways, and asks a person in its last task. */
export const errand = entrypoint('errand', ({ order }: Order) => run(order))

/** The same in a node of another graph. */
export const around = new StateGraph(State)
  .addNode('go', ({ order }) => errand.invoke({ order }))
  .addEdge(START, 'go').compile()

const post = task('post',
  (what: string) => call('mail', what).catch(() => call('mail', what)).catch(() => 'not sent'))

/** Sends a mail by a call of a task, and by another way if that fails. */
export const mailing = entrypoint('mailing', async ({ order }: Order) => ({
  sent: await post(order).catch(() => call('other', order)),
}))

/** The same in a node that goes on as well, two graphs deep. */
export const deep = new StateGraph(State)
  .addNode('go',
    ({ order }) =>
      mailing.invoke({ order }).catch(async () => ({ sent: await call('other', order) })))
  .addEdge(START, 'go').compile()

const write = task('write', (what: string) => effect('mail', { what }, () => call('coded', what)))

/** Sends a mail by an effect of the code. */
export const writing = entrypoint('writing', async ({ order }: Order) => ({
  sent: await write(order),
}))
