/** Compares every JSON answer that a test gets with the contract: all of it, and nothing else. */

import { answerFault, isInContract } from './contract-answer.ts'

const plain = Symbol.for('fetch without checks of answers')
const original: typeof fetch = Reflect.get(globalThis, plain) ?? globalThis.fetch

async function checked(method: string, url: URL, response: Response): Promise<Response> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  // Others may answer slowly, as a join does: they are not waited for.
  if (!response.ok || !isJson || !isInContract(method, url.pathname)) return response
  const json: unknown = await response.clone().json()
  const fault = answerFault(method, url.pathname, { status: response.status, json })
  if (fault === undefined) return response
  throw new Error(fault)
}

Reflect.set(globalThis, plain, original)
globalThis.fetch = async (input, init) => {
  const request = input instanceof Request ? input : undefined
  const url = new URL(request?.url ?? String(input))
  return checked(init?.method ?? request?.method ?? 'GET', url, await original(input, init))
}
