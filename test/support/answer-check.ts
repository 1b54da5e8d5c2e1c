/** Compares every JSON answer that a test gets with the contract: all of it, and nothing else. */

import { Compile } from 'typebox/compile'

import { operations } from '../../src/api/index.ts'
import type { Operation } from '../../src/api/index.ts'
import { onlyDeclaredOf } from '../../src/frontdoor/schema/undeclared.ts'

type Check = (answer: unknown) => string | undefined

const plain = Symbol.for('fetch without checks of answers')
const original: typeof fetch = Reflect.get(globalThis, plain) ?? globalThis.fetch
const checks = new Map<Operation, Check>()

/** The operation at an address: of several that fit, the one with the fewest parameters. */
function operationAt(method: string, path: string): Operation | undefined {
  const parts = path.split('/')
  const fits = ({ path: template }: Operation) => {
    const wanted = template.split('/')
    return wanted.length === parts.length &&
      wanted.every((part, at) => part.startsWith(':') || part === parts[at])
  }
  return operations.map(({ operation }) => operation)
    .filter((each) => each.method === method && fits(each))
    .toSorted((one, other) => one.path.split(':').length - other.path.split(':').length)[0]
}

function checkOf({ answer }: Operation): Check {
  if (answer === undefined) return () => 'no JSON is answered'
  const compiled = Compile(answer)
  const onlyDeclared = onlyDeclaredOf(answer)
  return (value) => {
    const [fault] = compiled.Errors(value)
    if (fault !== undefined) return `${fault.instancePath} ${fault.message}`
    const strays: string[] = []
    onlyDeclared?.(value, '', (field) => strays.push(field))
    return strays.length > 0 ? `${strays.join(', ')} not declared` : undefined
  }
}

async function checked(method: string, url: URL, response: Response): Promise<Response> {
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const operation = response.ok && isJson ? operationAt(method, url.pathname) : undefined
  if (operation === undefined) return response
  const check = checks.get(operation) ?? checkOf(operation)
  checks.set(operation, check)
  const answer: unknown = await response.clone().json()
  const fault = check(answer)
  if (fault === undefined) return response
  throw new Error(`The answer to ${method} ${operation.path} is not as src/api has it: ${fault} ` +
    `in ${JSON.stringify(answer).slice(0, 2_000)}`)
}

Reflect.set(globalThis, plain, original)
globalThis.fetch = async (input, init) => {
  const request = input instanceof Request ? input : undefined
  const url = new URL(request?.url ?? String(input))
  return checked(init?.method ?? request?.method ?? 'GET', url, await original(input, init))
}
