/** Reads server-sent events from text that may be cut anywhere. */

/** One event as it came. */
export interface ServerEvent {
  /** The name, such as `messages|research:9f1d…`. */
  readonly event: string
  /** The text of its data: usually one line of JSON. */
  readonly text: string
  readonly id: string
}

/** Makes a reader: it takes pieces of text and returns the events that are complete. */
export function eventParser(): (piece: string) => readonly ServerEvent[] {
  let rest = ''
  let event = ''
  let id = ''
  let data: string[] = []
  const line = (text: string): ServerEvent | undefined => {
    if (text === '') {
      const whole = event === '' && data.length === 0
        ? undefined
        : { event: event === '' ? 'message' : event, text: data.join('\n'), id }
      event = ''
      data = []
      return whole
    }
    const colon = text.indexOf(':')
    if (colon === 0) return undefined
    const name = colon < 0 ? text : text.slice(0, colon)
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '')
    if (name === 'event') event = value
    else if (name === 'data') data.push(value)
    else if (name === 'id') id = value
    return undefined
  }
  return (piece) => {
    rest += piece
    const events: ServerEvent[] = []
    for (;;) {
      const end = /\r\n|\n|\r(?=[^])/.exec(rest)
      if (end === null) return events
      const whole = line(rest.slice(0, end.index))
      rest = rest.slice(end.index + end[0].length)
      if (whole !== undefined) events.push(whole)
    }
  }
}
