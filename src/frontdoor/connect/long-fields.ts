/** Reads long JSON in messages beside the main thread, before a call is served. */

import type { Interceptor } from '@connectrpc/connect'

import { longJson } from '../../json/index.ts'
import type { Carried } from '../../json/index.ts'
import type { BodyReaders } from '../rest/body.ts'
import { carriedByCommand } from '../schema/carried.ts'
import { tenantOf } from './caller-value.ts'
import { remember } from './json-bytes.ts'

interface LongField {
  readonly name: string
  readonly bytes: Uint8Array
  readonly carried: Carried | number
}

/** Fields whose bytes hold JSON, and which of their values stay text. */
const carriedByField: Readonly<Record<string, Carried | number>> = {
  inputJson: 0,
  contextJson: 1,
  commandJson: carriedByCommand,
}

/** Makes the interceptor that reads them. Bytes take room of the tenant until they are read. */
export function readLongFields({ json, bodies }: BodyReaders): Interceptor {
  const read = async (tenant: string, message: unknown) => {
    for (const { name, bytes, carried } of longFieldsOf(message)) {
      const what = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      const quota = bodies.of(tenant)
      quota.hold(bytes, bytes.length)
      try {
        remember(bytes, await json.read(tenant, { what, bytes: bytes.slice(), carried }))
      } finally {
        quota.hold(bytes, 0)
      }
    }
  }
  return (next) => async (call) => {
    const tenant = tenantOf({ values: call.contextValues })
    if (!call.stream) {
      await read(tenant, call.message)
      return await next(call)
    }
    const { message: messages } = call
    const readEach = async function*() {
      for await (const message of messages) {
        await read(tenant, message)
        yield message
      }
    }
    return await next({ ...call, message: readEach() })
  }
}

/** Long fields of a message. Values stay text where they update a state; elsewhere they filter. */
function longFieldsOf(message: unknown): LongField[] {
  if (typeof message !== 'object' || message === null) return []
  const isUpdate = (message as { $typeName?: string }).$typeName?.endsWith('.StateUpdate')
  return Object.entries(message).flatMap(([name, value]: [string, unknown]): LongField[] => {
    if (!(value instanceof Uint8Array)) return longFieldsOf(value)
    if (value.length <= longJson) return []
    const carried = name === 'valuesJson' && isUpdate ? 1 : carriedByField[name] ?? {}
    return [{ name, bytes: value, carried }]
  })
}
