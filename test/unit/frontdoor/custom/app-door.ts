/** A front door before a project whose app is one of Hono, in a thread of its own. */

import { afterAll, beforeAll } from 'vitest'

import { systemEnv } from '../../../../cluster/index.ts'
import { AppLink } from '../../../../src/graph/app-thread/app-link.ts'
import { SupervisedApp } from '../../../../src/graph/app-thread/supervised-app.ts'
import { appProject } from '../../graph/app-thread/app-project.ts'
import type { BroughtSources } from '../../graph/app-thread/app-project.ts'
import { graphHost } from '../open-front-door.ts'

/** Imports of a project outside of this repository. */
export const imports = `
import { Hono } from '${import.meta.resolve('hono')}'
import { streamSSE } from '${import.meta.resolve('hono/streaming')}'
import { WebSocketServer } from '${import.meta.resolve('ws')}'
`

/** One thread for the cases of a file. */
export function useApp(sources: BroughtSources) {
  const env = systemEnv({ level: 'silent' })
  const link = new AppLink(env, 10_000)
  const lines: string[] = []
  const afterwards: (() => Promise<void>)[] = []
  let thread: SupervisedApp | undefined
  beforeAll(async () => {
    const project = await appProject(sources, (remove) => void afterwards.push(remove))
    thread = new SupervisedApp(env, { project, heapMb: 128, variables: { ...process.env },
      hangMs: 10_000, printed: (line) => void lines.push(line),
      moved: (place) => link.moved(place) })
    await thread.opened
  })
  afterAll(async () => {
    link.close()
    await thread?.close()
    for (const each of afterwards) await each()
  })
  return {
    lines,
    /** The graphs of the project, with its app. */
    host: () => ({ ...graphHost('agent'), app: () => link.app,
      openApp: async () => ({ app: link.app, leave: () => {} }) }),
    servedAt: (url: string) => thread!.servedAt(url),
  }
}
