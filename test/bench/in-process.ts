/** The graph in this process with the official MemorySaver, as the baseline for serving it. */

import { MemorySaver } from '@langchain/langgraph'
import { echo } from '../support/projects/conformance/chat.ts'
import { turn } from './target.ts'
import type { StreamTimes, Target } from './target.ts'

export class InProcess implements Target {
  readonly name = 'in process'

  constructor() {
    this.reset()
  }

  reset(): void {
    echo.checkpointer = new MemorySaver()
  }

  async wait(threadId: string, text: string): Promise<void> {
    await echo.invoke(turn(text), { configurable: { thread_id: threadId } })
  }

  async stream(threadId: string, text: string): Promise<StreamTimes> {
    const began = performance.now()
    let firstMs = 0
    for await (const _ of await echo.stream(turn(text), { configurable: { thread_id: threadId },
      streamMode: 'updates' })) {
      firstMs ||= performance.now() - began
    }
    return { firstMs, totalMs: performance.now() - began }
  }
}
