/** Puts the parts of an activation together. */

import type { ThreadContext } from '../context/thread-context.ts'
import { DeploymentWatch } from './deployment-watch.ts'
import { KeyedRuns } from '../queries/known-run.ts'
import { ExpiryTimer } from './expiry-timer.ts'
import type { Purge } from './purge.ts'
import { RunFeeds } from '../execution/run-feeds.ts'
import { ThreadFeed } from '../execution/thread-feed.ts'
import { WorkSlot } from '../execution/work-slot.ts'
import { RunRetention } from './run-retention.ts'
import { RunTimer } from './run-timer.ts'
import { RunWaiters } from './run-waiters.ts'
import { RunWebhooks } from './run-webhooks.ts'
import { StateQueries } from '../queries/state-queries.ts'
import type { ThreadParts } from './thread-parts.ts'
import { Trial } from './trial.ts'

/** The parts of a thread whose log was loaded. */
export function partsOf(context: ThreadContext, purge: Purge): ThreadParts {
  const retention = new RunRetention(context)
  const feeds = new RunFeeds(context, () => retention.endSeen())
  const threadFeed = new ThreadFeed(context)
  return {
    context,
    slot: new WorkSlot(context, feeds, threadFeed),
    feeds,
    threadFeed,
    waiters: new RunWaiters(),
    timer: new RunTimer(context),
    trial: new Trial(context),
    deployment: new DeploymentWatch(context),
    expiry: new ExpiryTimer(context),
    retention,
    keyed: new KeyedRuns(context),
    webhooks: new RunWebhooks(context),
    queries: new StateQueries(context),
    purge,
  }
}
