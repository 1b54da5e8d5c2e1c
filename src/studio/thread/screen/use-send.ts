/** Starts runs: of words, of an answer, of an input, and again from a step. */

import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'

import { createRun } from '../../api/runs.ts'
import type { Multitask, RunStart } from '../../api/runs.ts'
import { newId } from '../../env.ts'
import { liveModes } from '../../live/live-run.ts'
import type { ChatMessage } from '../../live/message-merge.ts'
import type { ThreadWatch } from '../../live/thread-watch.ts'
import { keysOf } from './newest-state.ts'
import type { RunSettings } from './settings-body.ts'
import { settingsBody } from './settings-body.ts'

/** Thread, assistant and settings that runs are started with. */
export interface SendParts {
  readonly threadId: string
  readonly assistantId: string | undefined
  readonly watch: ThreadWatch | undefined
  readonly isBusy: boolean
  readonly settings: RunSettings
}

/** Body that starts a run, without its assistant and beside the settings. */
export type Start = Omit<RunStart, 'assistant_id'>

/** A message that was sent just now; the run is known once the server has answered. */
export interface Sent {
  readonly message: ChatMessage
  readonly runId: string | undefined
}

/** Ways to start a run. */
export interface Send {
  /** Messages that were sent just now, and are in no state yet. */
  readonly sent: readonly Sent[]
  readonly start: (start: Start) => Promise<unknown>
  readonly say: (words: string, more: Start, strategy?: Multitask) => Promise<void>
}

/** Ways to start a run in a thread. Each rejects with ApiError. */
export function useSend({ threadId, assistantId, watch, isBusy, settings }: SendParts): Send {
  const client = useQueryClient()
  const [sent, setSent] = useState<readonly Sent[]>([])
  const start = useCallback(async (more: Start) => {
    const run = await createRun(threadId, { assistant_id: assistantId ?? '', stream_subgraphs: true,
      stream_resumable: true, on_disconnect: 'continue', ...settingsBody(settings, liveModes),
      ...more })
    if (!isBusy) watch?.followRun(run.run_id, true)
    void client.invalidateQueries({ queryKey: keysOf(threadId).thread })
    return run.run_id
  }, [client, threadId, assistantId, watch, isBusy, settings])
  const say = useCallback(async (words: string, more: Start, strategy?: Multitask) => {
    const message: ChatMessage = { type: 'human', content: words, id: newId() }
    if (!isBusy) setSent((all) => [...all, { message, runId: undefined }])
    try {
      const runId = await start({ input: { messages: [message] }, ...more,
        ...strategy !== undefined && { multitask_strategy: strategy } })
      setSent((all) => all.map((each) => each.message === message ? { message, runId } : each))
    } catch (error) {
      setSent((all) => all.filter((each) => each.message !== message))
      throw error
    }
  }, [isBusy, start])
  return { sent, start, say }
}
