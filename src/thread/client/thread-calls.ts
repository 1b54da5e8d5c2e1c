/** Commands to threads, which the router brings to their owners. */

import type { ActorKey, Router } from '../../../cluster/index.ts'
import { ignoreDeletedByThis } from '../../owned-row/index.ts'
import { asUnread } from '../../errors.ts'
import type { ThreadCommand } from '../model/command.ts'
import type { ThreadView } from '../model/thread-client.ts'

/** Conditions of a deletion. */
type OnlyIf = Pick<Extract<ThreadCommand, { readonly type: 'delete' }>, 'ifIdle' | 'allowed'>

/** Sends commands. The type of a reply is the caller's to know. */
export class ThreadCalls {
  readonly router: Router

  constructor(router: Router) {
    this.router = router
  }

  keyOf(tenant: string, id: string): ActorKey {
    return { kind: 'thread', tenant, id }
  }

  ask<Reply>(tenant: string, id: string, command: ThreadCommand,
    cancelled?: AbortSignal): Promise<Reply> {
    return this.router.ask(this.keyOf(tenant, id), command, cancelled) as Promise<Reply>
  }

  /** Like `ask`, for a command that changes nothing: it failed without an effect. */
  read<Reply>(tenant: string, id: string, command: ThreadCommand,
    cancelled?: AbortSignal): Promise<Reply> {
    return this.ask<Reply>(tenant, id, command, cancelled).catch(asUnread)
  }

  /**
   * Deletes a thread; with `ifIdle`, only one without runs that go on, and with `allowed`, only one
   * that the caller sees.
   */
  async remove(tenant: string, id: string, only: OnlyIf = {}): Promise<void> {
    // Retried after its owner died, the delete must not hit a thread made since with the same id.
    const { row } = await this.read<ThreadView>(tenant, id, { type: 'get', brief: true })
    const command = { type: 'delete', branchId: row.branch?.id, ...only } as const
    await this.ask<void>(tenant, id, command).catch(ignoreDeletedByThis)
  }
}
