/** The messages between the Studio and the frame of a component: plain data. */

/** Code that a frame shows. It never reaches the page around it. */
export interface ShowMail {
  readonly kind: 'show'
  readonly script: string
  readonly sheet: string
  /** The variable in which the script leaves its function `render`. */
  readonly globalName: string
  readonly name: string
}

/** Props that it is drawn with. */
export interface DrawMail {
  readonly kind: 'draw'
  readonly props: Readonly<Record<string, unknown>>
  readonly meta: unknown
  readonly theme: 'light' | 'dark'
}

/** Messages to a frame. */
export type FrameMail = ShowMail | DrawMail | { readonly kind: 'ping' }

/** Messages from a frame, if it keeps to the form: a component can send whatever it likes. */
export type ReplyMail =
  | { readonly kind: 'ready' | 'pong' | 'wanted' }
  | { readonly kind: 'size'; readonly height: number }
  | { readonly kind: 'failed'; readonly reason: string }
