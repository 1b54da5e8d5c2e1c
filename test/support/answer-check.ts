/** Compares the JSON answers that a test reads with the contract: all of each, and nothing else. */

import { answerFault } from './contract-answer.ts'

const plain = Symbol.for('fetch without checks of answers')
const original: typeof fetch = Reflect.get(globalThis, plain) ?? globalThis.fetch

/** The response, which refuses to be read if it is not as the contract has it. */
function checked(method: string, url: URL, response: Response): Response {
  const isJson = method !== 'HEAD' &&
    response.headers.get('content-type')?.startsWith('application/json')
  if (!response.ok || !isJson) return response
  const refuse = async (json: unknown) => {
    const fault = await answerFault(method, url.pathname, response.status, async () => json)
    if (fault !== undefined) throw new Error(fault)
  }
  // A body is not read ahead: that of a run that is joined comes long after its headers.
  const { json, text } = response
  return Object.assign(response, {
    json: async () => {
      const read: unknown = await json.call(response)
      await refuse(read)
      return read
    },
    text: async () => {
      const read = await text.call(response)
      await refuse(JSON.parse(read))
      return read
    },
  })
}

Reflect.set(globalThis, plain, original)
globalThis.fetch = async (input, init) => {
  const request = input instanceof Request ? input : undefined
  const url = new URL(request?.url ?? String(input))
  return checked(init?.method ?? request?.method ?? 'GET', url, await original(input, init))
}
