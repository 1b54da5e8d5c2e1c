/** Records of work that goes on: a tenant has few that are open, and keeps some that are over. */

import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import type { NewValue, Records } from './collection.ts'
import type { WakeList, Woken } from './wake-list.ts'

/** Work as a record has it: `isOpen` is true until it is over. */
export interface OpenRecordsOptions<Value, Progress> {
  readonly isOpen: (progress: Progress) => boolean
  /** Records of a tenant that may be open, and that are kept: they are one page. */
  readonly openMax: number
  readonly keptMax: number
  /** Message of `full`. */
  readonly full: string
  readonly records: Records<Value>
  readonly listed: WakeList
}

/** Reads and writes of such records. All methods throw HeddleError. */
export interface OpenRecords<Value, Progress> {
  /** The open one that was asked for first, and how many there are. */
  open(tenant: string): Promise<{ readonly oldest: Value | undefined; readonly total: number }>
  /** Throws `full` if as many are open as may be. */
  requireRoom(tenant: string): Promise<void>
  /** It is found after a crash from when this resolved. `full` if too many are open. */
  add(work: Woken, value: Pick<NewValue, 'body' | 'parentId'>): Promise<Value>
  /** `stale` if it was changed since `before`. */
  save(work: Woken, before: { readonly version: number }, after: Progress & object): Promise<Value>
}

/** Prefix of the names of open records. One that is over has its id as its name. */
const openName = 'open '

/** The open records of a collection. */
export function openRecords<Progress, Value extends Progress & { readonly id: string }>(
  { records, listed, isOpen, openMax, keptMax, full }: OpenRecordsOptions<Value, Progress>,
): OpenRecords<Value, Progress> {
  const tooMany = () => new HeddleError('full', full)
  const open = async (tenant: string) => {
    const { values, total } = await records.list(tenant, { limit: 1, nameContains: openName })
    return { oldest: values[0], total }
  }
  /** Leaves room for one more. */
  const forgetOldest = async (tenant: string) => {
    const { values, total } = await records.list(tenant, { limit: keptMax })
    const ended = values.filter((each) => !isOpen(each))
    for (const { id } of ended.slice(0, Math.max(0, total + 1 - keptMax))) {
      await records.delete(tenant, id).catch(ignoreNotFound)
    }
  }
  return {
    open,
    requireRoom: async (tenant) => {
      if ((await open(tenant)).total >= openMax) throw tooMany()
    },
    add: async (work, value) => {
      const { tenant, id } = work
      await forgetOldest(tenant)
      // First the list: what is only there is not acknowledged, and does nothing.
      await listed.add(work)
      // Names are taken once: an open record has one of a few.
      for (let no = 0; no < openMax; no++) {
        try {
          return await records.create(tenant, { ...value, id, name: openName + no })
        } catch (error) {
          if (HeddleError.from(error).code !== 'exists') throw error
        }
      }
      await listed.remove(work)
      throw tooMany()
    },
    save: ({ tenant, id }, { version }, after) =>
      records.change(tenant, id, { body: after, expected: { version },
        ...!isOpen(after) && { name: id } }),
  }
}
