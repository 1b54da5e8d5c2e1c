/** All that the project `whole` promises, wherever it is served. */

import type { Gate } from '../../support/gate.ts'
import { beginsSession, beginsTask, isCancelled, isFollowed, showsCard } from './agents.ts'
import type { Bakery } from './bakery.ts'
import { takesMessages } from './injected.ts'
import { actsAsItsCaller, isDenied, isKnownInGraph, keepsItemsApart,
  seesOwnThreads } from './rights.ts'
import { answersPages, hasRoutes, passesBodies, showsComponents, takesSockets } from './surface.ts'

/** Throws if it is not kept at some door, or not in the same way at each. */
export type Keep = (bakery: Bakery, gate: Gate) => Promise<void>

/** What is promised, by what a person would say of it. */
export const promises: readonly (readonly [promise: string, keep: Keep])[] = Object.entries({
  'shows each user their own threads': seesOwnThreads,
  'tells its graph who calls': isKnownInGraph,
  'keeps the items of users apart': keepsItemsApart,
  'refuses whom its login refuses, on every way in': isDenied,
  'lets its graph act as its caller': actsAsItsCaller,
  'has routes that know their caller': hasRoutes,
  'passes bodies and streams on': passesBodies,
  'takes WebSockets': takesSockets,
  'lets the pages call that it names': answersPages,
  'shows components': showsComponents,
  'is a tool that asks': async (bakery) => void await beginsSession(bakery),
  'is an agent that asks': async (bakery) => (await beginsTask(bakery))(bakery),
  'is an agent that is followed': isFollowed,
  'is an agent that is cancelled': isCancelled,
  'shows the card of an agent': showsCard,
  'takes messages for a run that executes': takesMessages,
} satisfies Readonly<Record<string, Keep>>)
