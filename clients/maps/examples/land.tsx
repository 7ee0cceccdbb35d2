<?xml version="1.0" encoding="UTF-8"?>
<tileset version="1.10" tiledversion="1.10.2" name="land" tilewidth="16" tileheight="16" tilecount="8" columns="8">
 <image source="land.png" width="128" height="16"/>
 <tile id="0"><properties><property name="terrain" value="ground"/></properties></tile>
 <tile id="1">
  <properties>
   <property name="cost" type="int" value="4"/>
   <property name="terrain" value="ground"/>
  </properties>
 </tile>
 <tile id="2" type="trees"/>
 <tile id="3" type="water"/>
 <tile id="4"><properties><property name="terrain" value="swamp"/></properties></tile>
 <tile id="5"><properties><property name="terrain" value="out_of_bounds"/></properties></tile>
</tileset>
