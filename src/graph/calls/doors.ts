/** The doors of a thread, which together see the calls of all HTTP clients. */

import { checkDoors } from './door-check.ts'
import { openDispatcherDoor } from './dispatcher-door.ts'
import type { DispatcherBase, DoorParts } from './dispatcher-door.ts'
import { openHttpDoor } from './http-door.ts'
import { nodeDispatcher, watchCopies } from './undici-copies.ts'

/**
 * Opens the doors, and lets one call pass each of them and answers one. Call before a file of the
 * project is loaded. If a door does not work, all are closed again, and it throws.
 * Returns a function that closes them.
 */
export async function openDoors(leavesOut: (url: string) => boolean): Promise<() => void> {
  let lastId = 0
  const parts: DoorParts = { nextId: () => ++lastId, leavesOut }
  const known = new Set<DispatcherBase>()
  const close: (() => void)[] = []
  const enter = (base: DispatcherBase, client: 'fetch' | 'undici') => {
    if (known.has(base)) return
    known.add(base)
    close.push(openDispatcherDoor(base, client, parts))
  }
  const closeAll = () => {
    for (const each of close) each()
  }
  try {
    enter(nodeDispatcher(), 'fetch')
    close.push(openHttpDoor(parts), watchCopies((base) => enter(base, 'undici')))
    await checkDoors()
    return closeAll
  } catch (error) {
    closeAll()
    throw error
  }
}
