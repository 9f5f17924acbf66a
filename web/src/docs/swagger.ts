/** Types of the part of Swagger UI that this page uses; Swagger UI publishes none. */
export type Component = (props: Record<string, unknown>) => unknown

export interface SwaggerSystem {
  React: {
    createElement(type: unknown, props?: Record<string, unknown> | null, ...children: unknown[]): unknown
    useState<T>(initial: T): [T, (value: T) => void]
  }
}

export interface SwaggerPlugin {
  wrapComponents: Record<string, (original: unknown, system: SwaggerSystem) => Component>
}

export type SwaggerUi = (options: Record<string, unknown> & { plugins: (() => SwaggerPlugin)[] }) => unknown

/** The part of Immutable's map that holds the document. */
export interface SwaggerDocument {
  getIn(path: string[]): { toJS(): unknown } | undefined
}
