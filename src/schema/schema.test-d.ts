// Types and schemas are the same thing: this file compiles only while that is so.
import type Type from "typebox";
import type { Event, UniversalEvent } from "./event.ts";
import type { EventDataOf, EventType, eventData } from "./event-data.ts";
import type { Item, Item as ItemSchema } from "./item.ts";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;
const same = <_ extends true>(): void => {};

same<Same<keyof typeof eventData, EventType>>();
same<Same<UniversalEvent["type"], EventType>>();
same<Same<{ [T in EventType]: Type.Static<(typeof eventData)[T]> }, EventDataOf>>();
same<Same<EventDataOf["item.started"]["item"], Item>>();
same<Same<Type.Static<typeof ItemSchema>, Item>>();
same<Same<Type.Static<typeof Event>["source"], UniversalEvent["source"]>>();
