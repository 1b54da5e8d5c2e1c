/** The configuration of a Cassandra node: its files, and the arguments of its Java process. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { ports } from './layout.ts'
import type { Place } from './layout.ts'

/** The default name of the one data center of a cluster. */
export const usualDataCenter = 'us'

/** How a node is configured. */
export interface NodeOptions {
  readonly place: Place
  /** The address of the node that new nodes ask for the others. */
  readonly seed: string
  /** Directory of the node, for its configuration, data and logs. */
  readonly directory: string
  readonly dataCenter: string
  /** Starts sooner and takes less memory, but never gets fast. For tests, not for benchmarks. */
  readonly light: boolean
  /** True if clients must give a user and a password (at first `cassandra`, `cassandra`). */
  readonly passwords: boolean
  /** True if a node that ends is not started again. Then making a table takes a third as long. */
  readonly fleeting: boolean
}

/** The `cassandra.yaml` of a node: small memtables; a write is acknowledged once it is on disk. */
export function cassandraYaml({ place, seed, directory, passwords }: NodeOptions): string {
  const at = (name: string) => JSON.stringify(join(directory, name))
  return `cluster_name: heddle
num_tokens: 1
initial_token: "${place.token}"
auto_bootstrap: false
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: GossipingPropertyFileSnitch
dynamic_snitch: false
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters:
      - seeds: "${seed}:${ports.storage}"
listen_address: ${place.address}
storage_port: ${ports.storage}
rpc_address: ${place.address}
native_transport_port: ${ports.client}
authenticator: ${passwords ? 'PasswordAuthenticator' : 'AllowAllAuthenticator'}
authorizer: ${passwords ? 'CassandraAuthorizer' : 'AllowAllAuthorizer'}
data_file_directories:
  - ${at('data')}
commitlog_directory: ${at('commitlog')}
saved_caches_directory: ${at('saved_caches')}
hints_directory: ${at('hints')}
cdc_raw_directory: ${at('cdc_raw')}
commitlog_sync: group
commitlog_sync_group_window: 2ms
commitlog_segment_size: 8MiB
commitlog_total_space: 64MiB
disk_failure_policy: die
# A table that is dropped while its commit log is replayed counts as a commit failure (Unknown CF).
commit_failure_policy: ignore
paxos_variant: v2
paxos_state_purging: repaired
memtable:
  configurations:
    trie:
      class_name: TrieMemtable
    default:
      inherits: trie
memtable_allocation_type: offheap_objects
memtable_heap_space: 64MiB
memtable_offheap_space: 64MiB
sstable:
  selected_format: bti
  format:
    bti: {}
storage_compatibility_mode: NONE
auto_snapshot: false
concurrent_compactors: 1
`
}

const logback = `<configuration>
  <appender name="file" class="ch.qos.logback.core.FileAppender">
    <file>\${cassandra.logdir}/system.log</file>
    <encoder><pattern>%-5level %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="file"/></root>
</configuration>
`

/** Directory for temporary files of Java, which a killed node leaves behind. */
const temporaryOf = (directory: string) => join(directory, 'tmp')

/** Writes the files into the node's directory. Its data stays as it is. */
export function writeConfiguration(options: NodeOptions): void {
  const temporary = temporaryOf(options.directory)
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true })
  const conf = join(options.directory, 'conf')
  mkdirSync(conf, { recursive: true })
  writeFileSync(join(conf, 'cassandra.yaml'), cassandraYaml(options))
  writeFileSync(join(conf, 'cassandra-rackdc.properties'), `dc=${options.dataCenter}\nrack=r1\n`)
  writeFileSync(join(conf, 'logback.xml'), logback)
}

/** The arguments of `java` for a node whose files are written. `library` is the folder of jars. */
export function javaArguments(options: NodeOptions, library: string): string[] {
  const { directory, light, fleeting } = options
  const conf = join(directory, 'conf')
  return [
    `-Dcassandra.config=${pathToFileURL(join(conf, 'cassandra.yaml')).href}`,
    `-Dcassandra.logdir=${directory}`,
    `-Dcassandra.storagedir=${directory}`,
    `-Djava.io.tmpdir=${temporaryOf(directory)}`,
    '-Dcassandra-foreground=yes',
    '-Dcassandra.skip_wait_for_gossip_to_settle=0',
    '-Dcassandra.superuser_setup_delay_ms=0',
    '-Dcassandra.consistent.rangemovement=false',
    '-Djdk.attach.allowAttachSelf=true',
    '-Dio.netty.tryReflectionSetAccessible=true',
    '-Djava.net.preferIPv4Stack=true',
    '-Xss512k',
    ...light ? ['-Xms256M', '-Xmx256M', '-XX:TieredStopAtLevel=1'] : ['-Xms384M', '-Xmx384M'],
    // What a node says of its tables is then in its commit log only, where it looks too late.
    ...fleeting ? ['-Dcassandra.unsafesystem=true'] : [],
    '-XX:MaxDirectMemorySize=256M',
    '-XX:+UseSerialGC',
    ...exported.map((name) => `--add-exports=${name}=ALL-UNNAMED`),
    ...opened.map((name) => `--add-opens=${name}=ALL-UNNAMED`),
    '-cp',
    `${conf}:${join(library, '*')}`,
    'org.apache.cassandra.service.CassandraDaemon',
  ]
}

/** The internal packages of Java 17 that Cassandra uses. */
const exported = [
  ...['jdk.internal.misc', 'jdk.internal.ref', 'jdk.internal.reflect', 'sun.nio.ch',
    'java.lang.ref'].map((name) => `java.base/${name}`),
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  ...['registry', 'server', 'transport.tcp'].map((name) => `java.rmi/sun.rmi.${name}`),
  'java.sql/java.sql',
  'jdk.unsupported/sun.misc',
  'jdk.attach/sun.tools.attach',
  'jdk.compiler/com.sun.tools.javac.file',
]
const opened = [
  ...['java.lang', 'java.lang.module', 'java.lang.ref', 'java.lang.reflect', 'java.io', 'java.math',
    'java.net', 'java.nio', 'java.nio.file.attribute', 'java.util', 'java.util.concurrent',
    'java.util.concurrent.atomic', 'jdk.internal.loader', 'jdk.internal.math', 'jdk.internal.misc',
    'jdk.internal.module', 'jdk.internal.ref', 'jdk.internal.reflect', 'jdk.internal.util.jar',
    'jdk.internal.vm', 'sun.nio.ch'].map((name) => `java.base/${name}`),
  'jdk.management/com.sun.management.internal',
  'java.management.rmi/com.sun.jmx.remote.internal.rmi',
  'java.rmi/sun.rmi.transport.tcp',
]
