/** Subject of each limit, in words for people. */

const words: Readonly<Record<string, string>> = {
  'edge': 'Descriptions of the server, and preflights of browsers',
  'auth': 'Questions about the caller',
  'beacon': 'Reports of servers',
  'repos': 'Prompts',
  'runs-batch': 'Batches of traces',
  'otel-traces': 'Traces of OpenTelemetry',
  'charts': 'Charts',
  'runs-multipart': 'Multipart bodies of traces',
  'runs-query': 'Queries of traces',
  'generate': 'Generated examples',
  'commits': 'Commits of prompts',
  'deletion': 'Deletions of projects, and triggers',
  'runs-create': 'Single traces',
  'runs-update': 'Updates of traces',
  'feedback': 'Feedback',
  'run-lookup': 'Lookups of a trace',
  'examples': 'Examples of datasets',
  'default': 'All other requests: assistants, threads, runs',
  'public-download': 'Public downloads',
  'runs-stats': 'Statistics of traces',
  'catch-all': 'Requests without a key or a login',
}

/** The words for a limit: the rows for keys and for users have the same. */
export function limitWords(name: string): string {
  return words[name] ?? words[name.replace(/-(key|user)$/, '')] ?? name
}
