/** The checks of the doctor: each says how one thing is, and what cures it. Pure. */

import type { Reading, RepairReading } from './reading.ts'

/**
 * ok    as it should be
 * warn  it works, and will not for ever or not well
 * bad   it does not work, or something can be lost
 */
export type Verdict = 'ok' | 'warn' | 'bad'

/** Result of a check, with advice where something is wrong. */
export interface Finding {
  readonly check: string
  readonly verdict: Verdict
  /** State of the checked thing, in a sentence. */
  readonly message: string
  /** Advice for the operator; missing if all is as it should be. */
  readonly cure?: string
}

type Found = Omit<Finding, 'check'> | undefined
type Check = (reading: Reading) => Found

const [mib, gib, dayMs] = [2 ** 20, 2 ** 30, 86_400_000]
/** Bytes below which a disk counts as full soon. */
const lowBytes = { bad: 512 * mib, warn: 5 * gib } as const
const slowFsyncMs = { bad: 100, warn: 10 } as const
/** Megabytes of a server with one worker, and of each further worker. Measured. */
const needsMb = { first: 165, further: 130, process: 165 } as const
const fewDescriptors = { bad: 256, warn: 4_096 } as const
const soonMs = 30 * dayMs
/** Revisions or files that are named at most. */
const namedMax = 5
/** The share of the time for a repair after which the next one is due. */
const repairAgain = 0.5
const staleBackupMs = 7 * dayMs
/** More than what clocks differ by that are set by NTP. */
const clockOffMs = 1_000
/** Time for which a jump of the clock is shown. */
const recentJumpMs = 7 * dayMs

/** Kinds of file systems without the locks and the shared memory that SQLite needs. */
const remoteDisks = /^(nfs4?|cifs|smb[23]?|9p|fuse\.(sshfs|s3fs|gcsfuse)|afs|ceph|glusterfs)$/
/** Kinds that are gone after a restart of the machine or of the container. */
const fleetingDisks = /^(tmpfs|ramfs|overlay)$/

const ok = (message: string): Found => ({ verdict: 'ok', message })
const warn = (message: string, cure: string): Found => ({ verdict: 'warn', message, cure })
const bad = (message: string, cure: string): Found => ({ verdict: 'bad', message, cure })

/** Each check by its name, in the order in which they are shown. */
const checks: Readonly<Record<string, Check>> = {
  'node': ({ node }) =>
    Number.parseInt(node) >= 24
      ? ok(`Node ${node}`)
      : bad(`Node ${node} is too old.`, 'Install Node 24 or newer.'),

  'fsync': ({ fsyncMs }) => {
    if (fsyncMs === undefined) return undefined
    const text = `The disk takes ${fsyncMs.toFixed(1)} ms to keep a write.`
    const cure = 'Put the data directory on a disk of this machine that is not shared.'
    if (fsyncMs >= slowFsyncMs.bad) return bad(text, cure)
    return fsyncMs >= slowFsyncMs.warn ? warn(text, cure) : ok(text)
  },

  'disk space': ({ disk }) => {
    if (disk === undefined) return undefined
    const text =
      `${(disk.freeBytes / gib).toFixed(1)} GiB of ${(disk.allBytes / gib).toFixed(1)} ` +
      'GiB are free.'
    const cure = 'Free some space: with a full disk, requests that write are refused.'
    if (disk.freeBytes < lowBytes.bad) return bad(text, cure)
    return disk.freeBytes < lowBytes.warn ? warn(text, cure) : ok(text)
  },

  'disk kind': ({ disk, cassandra }) => {
    if (disk === undefined) return undefined
    const text = `The data directory is on ${disk.kind}.`
    // With Cassandra, the directory only has what can be rebuilt.
    if (cassandra !== undefined) return ok(text)
    if (remoteDisks.test(disk.kind)) {
      return bad(text, 'Move it to a disk of this machine: SQLite can lose data on others.')
    }
    if (!fleetingDisks.test(disk.kind)) return ok(text)
    return warn(text, 'Mount a volume there: what is on it may be gone after a restart.')
  },

  'descriptors': ({ descriptors }) => {
    if (descriptors === undefined) return undefined
    const text = `This process may have ${descriptors} files open.`
    const cure = 'Raise "ulimit -n": each connection needs one, and the server 100.'
    if (descriptors < fewDescriptors.bad) return bad(text, cure)
    return descriptors < fewDescriptors.warn ? warn(text, cure) : ok(text)
  },

  'memory': ({ memory: { limitMb, workers, heapMb } }) => {
    const least = needsMb.first + needsMb.further * (workers - 1)
    const text = `${limitMb} MB for ${workers} workers.`
    if (least > limitMb) return bad(text, `Allow ${least} MB, or set fewer --workers.`)
    if (heapMb === undefined || needsMb.first + heapMb * workers <= limitMb) return ok(text)
    return warn(`${text} Their graphs may fill ${heapMb * workers} MB.`,
      'Lower --worker-heap-mb, or allow more memory: the system ends a process that takes more.')
  },

  'graph processes': ({ memory: { limitMb, workers, graphsMb } }) => {
    if (graphsMb === undefined) return undefined
    const text = `Graph processes of deployments may fill ${graphsMb} of ${limitMb} MB.`
    const least = needsMb.first + needsMb.further * (workers - 1)
    if (graphsMb < needsMb.process) {
      return warn(`${text} One takes ${needsMb.process} MB at least.`,
        'Raise --graphs-memory-mb, or allow more memory: no deployment can be loaded.')
    }
    return least + graphsMb <= limitMb ? ok(text) : warn(
      `${text} The server itself takes ${least} MB.`,
      'Lower --graphs-memory-mb, or allow more memory: the system ends a process that takes more.',
    )
  },

  'graph users': ({ graphsUsers }) => {
    if (graphsUsers === undefined) return undefined
    const { count, fault } = graphsUsers
    return fault === undefined
      ? ok(`The code of each deployment runs as one of ${count} users.`)
      : bad(fault, 'Run the server as root of Linux, with ids that belong to nobody.')
  },

  'store': ({ storeFault }) =>
    storeFault === undefined
      ? ok('The store can be read.')
      : bad(storeFault, 'See that it is up, and that the settings name it.'),

  'schema': ({ schema }) => {
    if (schema === undefined) return undefined
    const { known, oldest, newest } = schema
    if (oldest > known) {
      return bad(`The tables need version ${oldest}, and this program knows ${known}.`,
        'Install the newer version of Heddle.')
    }
    if (newest < known) {
      return warn(`The tables are of version ${newest}, and this program knows ${known}.`,
        'Make a backup; the next start updates them.')
    }
    return ok(newest === known
      ? `The tables are of version ${newest}.`
      : `The tables are of version ${newest}; this program, which knows ${known}, can work with ` +
        'them.')
  },

  'clock': ({ cassandra, clockJump, nowMs }) => {
    const cure = 'Set the clocks by NTP: times of records, limits and crons depend on them.'
    const aheadMs = Math.abs(cassandra?.clockAheadMs ?? 0)
    const text = `The clock differs from Cassandra's by ${(aheadMs / 1_000).toFixed(1)} s.`
    if (aheadMs >= clockOffMs) return warn(text, cure)
    if (clockJump && nowMs - clockJump.atMs < recentJumpMs) {
      const { atMs, byMs } = clockJump
      return warn(`On ${dayOf(atMs)}, the clock went ${byMs < 0 ? 'back' : 'on'} at once, by ` +
        `${Math.round(Math.abs(byMs) / 1_000)} s.`, cure)
    }
    if (cassandra !== undefined) return ok(text)
    return clockJump === undefined ? undefined : ok('The clock was not set lately.')
  },

  'replication': ({ cassandra }) => {
    if (cassandra === undefined) return undefined
    const { nodes, replicas } = cassandra
    const fewest = Math.min(replicas.data, replicas.control)
    const text = `${fewest} replicas on ${nodes} nodes in this data center.`
    const cure =
      'ALTER KEYSPACE both keyspaces to three replicas, then run "nodetool repair -full".'
    if (fewest === 0) return bad('A keyspace has no replicas in this data center.', cure)
    if (fewest > nodes) return bad(text, 'Start the nodes that are missing.')
    if (fewest >= 3) return ok(text)
    return warn(`${text} No node may fail.`, nodes >= 3 ? cure : 'Have three nodes.')
  },

  'repairs': ({ cassandra, nowMs }) => {
    if (cassandra === undefined) return undefined
    const { repairs } = cassandra
    if (repairs === undefined) {
      return warn('The history of repairs cannot be read.',
        'GRANT SELECT ON system_distributed.parent_repair_history, or let the tool that repairs ' +
          'watch that each table is repaired within its gc_grace_seconds.')
    }
    const used = (each: RepairReading) => (nowMs - sinceMs(each)) / each.gcGraceMs
    const [worst] = repairs.toSorted((one, other) => used(other) - used(one))
    if (worst === undefined) return ok('Tables with one replica need no repair.')
    if (used(worst) < repairAgain) {
      return ok(`Each of ${repairs.length} tables was made or repaired lately enough.`)
    }
    const { table, gcGraceMs, repairedAtMs } = worst
    const last = repairedAtMs === undefined
      ? `No repair went through all of ${table}`
      : `All of ${table} was last repaired ${daysOf(nowMs - repairedAtMs)} ago`
    const text = `${last}; a deleted row is forgotten after ${daysOf(gcGraceMs)}`
    const cure = 'Run "nodetool repair -pr" on each node for both keyspaces, and again in time.'
    return used(worst) < 1
      ? warn(`${text}.`, cure)
      : bad(`${text}, and may come back.`, cure)
  },

  'shards': ({ cassandra }) => {
    if (cassandra === undefined) return undefined
    const { shards, orphaned, members } = cassandra
    if (members.length === 0) return warn('No member is up.', 'Start one.')
    return orphaned.length === 0
      ? ok(`Each of ${shards} shards has an owner, among ${members.length} members.`)
      : bad(`${orphaned.length} of ${shards} shards have no owner that is up.`,
        'Wait a minute and look again; then see the logs of the members.')
  },

  'cluster secret': ({ hasClusterSecret }) => {
    if (hasClusterSecret === undefined) return undefined
    return hasClusterSecret
      ? ok('Members have a secret or certificates.')
      : warn('Members use the secret in Cassandra: whoever reads it may join.',
        'Set HEDDLE_CLUSTER_SECRET, or --member-ca, --member-cert and --member-key.')
  },

  'certificates': ({ certificates, unreadable, nowMs }) => {
    const [missing] = unreadable
    if (missing !== undefined) {
      return bad(`${missing} cannot be read.`, 'Put it there, and let this user read it.')
    }
    const [first] = certificates.toSorted((one, other) => one.endsAtMs - other.endsAtMs)
    if (first === undefined) return ok('None are used.')
    const { file, endsAtMs } = first
    const text = `${file} is valid until ${dayOf(endsAtMs)}.`
    const cure = 'Put a new one there; servers read it by themselves.'
    if (endsAtMs <= nowMs) return bad(text, cure)
    return endsAtMs - nowMs < soonMs ? warn(text, cure) : ok(text)
  },

  'private files': ({ privateFiles }) => {
    if (privateFiles === undefined) return undefined
    const { count, exposed: [first, ...more] } = privateFiles
    if (first === undefined) return ok(`None of ${count} files with secrets or data is open.`)
    const others = more.length === 0 ? '' : ` So are ${more.length} more.`
    return warn(`${first.file} may be read by others (${first.mode.toString(8)}).${others}`,
      `Run "chmod 600 ${[first, ...more].slice(0, namedMax).map(({ file }) => file).join(' ')}", ` +
        'and replace the secrets that others may have read.')
  },

  'keys': ({ keys, auth, isPublic, nowMs }) => {
    if (auth === 'none') {
      return isPublic
        ? bad('Everybody who reaches this server may call.', 'Set --auth keys.')
        : ok('Callers on this machine need no key.')
    }
    if (keys === undefined) return undefined
    const ending = keys.filter(({ expiresAtMs: ms }) =>
      ms !== null && ms > nowMs && ms - nowMs < soonMs
    )
    const [first] = ending
    return first === undefined
      ? ok('No API key ends within 30 days.')
      : warn(`${ending.length} API keys end within 30 days, ${first.id} among them.`,
        'Make new ones with "heddle keys create", and give them to their callers before.')
  },

  'secrets': ({ secrets }) => {
    if (secrets === undefined) return undefined
    const { stored, unopened, sealedWithOlder } = secrets
    if (unopened > 0) {
      return bad(`${unopened} of ${stored} secrets cannot be opened.`,
        'Add the key that they were sealed with to the file of --secrets-key, or set them anew.')
    }
    return sealedWithOlder === 0
      ? ok(`${stored} secrets can be opened.`)
      : warn(`${sealedWithOlder} of ${stored} secrets are sealed with an older key.`,
        'Run "heddle secrets rekey" before you remove that key.')
  },

  'revisions': ({ revisions }) => {
    if (revisions === undefined) return undefined
    const { stored, broken, deep } = revisions
    if (broken.length > 0) {
      return bad(`Chunks of ${broken.length} of ${stored} revisions are missing or not true: ` +
        `${broken.slice(0, namedMax).join(', ')}.`,
        'Deploy these again, or restore a backup: a member that has not loaded them cannot.')
    }
    return ok(deep
      ? `All bytes of ${stored} revisions are true.`
      : `No chunk of ${stored} revisions is missing. --deep reads their bytes.`)
  },

  'proxies': ({ isPublic, trustedProxies }) => {
    if (!isPublic) return ok('Only this machine reaches the server.')
    return trustedProxies > 0
      ? ok(`${trustedProxies} ranges of proxies are named.`)
      : warn('No proxy is named: behind one, all callers share one address and its limits.',
        'Name the balancer with --trusted-proxies, if there is one.')
  },

  'user proxies': ({ posing }) => {
    if (posing === undefined) return undefined
    return posing.length === 0
      ? ok('Code of deployments on this machine cannot pose as a proxy of users.')
      : warn(`Code of deployments can call as every user, from ${posing.join(', ')}.`,
        'Let the proxy send signed tokens (--jwt-issuer), or name no address of this machine, of ' +
          'other members or of pods in --user-proxies.')
  },

  'backup': ({ lastBackupMs, lastBackupFault, nowMs }) => {
    if (lastBackupMs === undefined) return undefined
    const cure = 'Run "heddle backup" daily, and keep its files elsewhere.'
    if (lastBackupMs === null) return warn('No backup was made.', cure)
    if (lastBackupFault !== undefined) return bad(lastBackupFault, 'Make another backup.')
    const text = `The last backup is of ${dayOf(lastBackupMs)}.`
    return nowMs - lastBackupMs < staleBackupMs ? ok(text) : warn(text, cure)
  },
}

/** Findings of all checks that apply to the reading. */
export function examine(reading: Reading): readonly Finding[] {
  return Object.entries(checks).flatMap(([check, look]) => {
    const found = look(reading)
    return found === undefined ? [] : [{ check, ...found }]
  })
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

function daysOf(ms: number): string {
  return `${(ms / dayMs).toFixed(1)} days`
}

/** Time from which on deletions of a table may be on some replicas only. */
function sinceMs({ repairedAtMs, createdAtMs }: RepairReading): number {
  return Math.max(repairedAtMs ?? createdAtMs, createdAtMs)
}
