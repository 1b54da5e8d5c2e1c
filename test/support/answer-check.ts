/** Compares every JSON answer that a test gets with the contract: all of it, and nothing else. */

import { answerFault } from './contract-answer.ts'

const plain = Symbol.for('fetch without checks of answers')
const original: typeof fetch = Reflect.get(globalThis, plain) ?? globalThis.fetch

async function checked(method: string, url: URL, response: Response): Promise<Response> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  if (!response.ok || !isJson) return response
  // Others may answer slowly, as a join does: they are not waited for.
  const fault = await answerFault(method, url.pathname, response.status,
    () => response.clone().json())
  if (fault === undefined) return response
  throw new Error(fault)
}

Reflect.set(globalThis, plain, original)
globalThis.fetch = async (input, init) => {
  const request = input instanceof Request ? input : undefined
  const url = new URL(request?.url ?? String(input))
  return checked(init?.method ?? request?.method ?? 'GET', url, await original(input, init))
}
