/** Makes the calls that its input names in their order, with a key in place of SECRET. */

import { get } from 'node:http'

import { Annotation, START, StateGraph } from '@langchain/langgraph'

interface Wanted {
  readonly url: string
  readonly body?: string
  /** Milliseconds after which it gives up. */
  readonly patienceMs?: number
  readonly by?: 'http'
}

const State = Annotation.Root({ calls: Annotation<readonly Wanted[]>,
  answers: Annotation<readonly string[]> })

async function answerOf({ url: to, body, patienceMs, by }: Wanted): Promise<string> {
  const url = to.replace('SECRET', secret())
  if (by === 'http') return await plainly(url)
  const answer = await fetch(url, {
    ...body !== undefined && { method: 'POST', body: body.replace('SECRET', secret()) },
    headers: { authorization: `Bearer ${secret()}` },
    ...patienceMs !== undefined && { signal: AbortSignal.timeout(patienceMs) },
  })
  return `${answer.status} ${(await answer.text()).length}`
}

function plainly(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let length = 0
      response.on('data', (chunk: Buffer) => length += chunk.length)
      response.on('end', () => resolve(`${response.statusCode} ${length}`))
      response.on('error', reject)
    }).on('error', reject)
  })
}

function secret(): string {
  return process.env['BANK_KEY'] ?? ''
}

/** A graph with one node. */
export const caller = new StateGraph(State)
  .addNode('ask', async ({ calls }) => {
    const answers: string[] = []
    for (const call of calls) {
      answers.push(await answerOf(call).catch((error: Error) => error.name))
    }
    return { answers }
  })
  .addEdge(START, 'ask').compile()
