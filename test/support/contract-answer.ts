/** Finds what an answer has that the contract does not say of it, and what it lacks. */

import { Compile } from 'typebox/compile'

import { operations } from '../../src/api/index.ts'
import type { Operation } from '../../src/api/index.ts'
import { onlyDeclaredOf } from '../../src/frontdoor/schema/undeclared.ts'

type Check = (answer: unknown) => string | undefined

const checks = new Map<object, Check>()

/** The operation at an address: of several that fit, the one with the fewest parameters. */
function operationAt(method: string, path: string): Operation | undefined {
  const parts = path.replace(/\/$/, '').split('/')
  const fits = ({ path: template }: Operation) => {
    const wanted = template.split('/')
    return wanted.length === parts.length &&
      wanted.every((part, at) => part.startsWith(':') || part === parts[at])
  }
  return operations.map(({ operation }) => operation)
    .filter((each) => each.method === method && fits(each))
    .toSorted((one, other) => one.path.split(':').length - other.path.split(':').length)[0]
}

function checkOf(answer: NonNullable<Operation['answer']>): Check {
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

/**
 * What is wrong with a good answer in JSON; undefined if nothing is, or if the contract does not
 * name its operation, or calls its answer a file. The answer is read only if it is checked.
 */
export async function answerFault(method: string, path: string, status: number,
  read: () => Promise<unknown>): Promise<string | undefined> {
  const operation = operationAt(method, path)
  if (operation === undefined || operation.media !== undefined) return undefined
  const schema = operation.also?.[status] ?? operation.answer
  const check = schema === undefined
    ? () => 'no JSON is answered'
    : checks.get(schema) ?? checkOf(schema)
  if (schema !== undefined) checks.set(schema, check)
  const json = await read()
  const fault = check(json)
  return fault && `The answer to ${method} ${operation.path} is not as src/api has it: ${fault} ` +
      `in ${JSON.stringify(json).slice(0, 2_000)}`
}
